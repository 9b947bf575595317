#include "support/private_network.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "support/child_process.hpp"

namespace holdfast::support {
namespace {

constexpr const char* whole = "whole";  // the bridge that all are at
constexpr const char* apart = "apart";

std::string line_of(std::size_t host) { return "host" + std::to_string(host); }

}  // namespace

std::string private_network::obstacle() {
  if (::geteuid() != 0) return "network namespaces need root";
  try {
    net::descriptor space;
    make_space(space);
    run({.program = "ip", .arguments = {"-Version"}});
  } catch (const std::exception& error) {
    return std::string("there are no network namespaces here: ") + error.what();
  }
  return {};
}

void private_network::enter(const net::descriptor& space) {
  if (::setns(space.get(), CLONE_NEWNET) != 0) {
    throw std::system_error(errno, std::generic_category(), "setns");
  }
}

void private_network::make_space(net::descriptor& into) {
  const auto make = [&into] {
    if (::unshare(CLONE_NEWNET) != 0) {
      throw std::system_error(errno, std::generic_category(), "unshare");
    }
    into.reset(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  };
  std::async(std::launch::async, make).get();
}

void private_network::configure(const net::descriptor& space, const std::string& lines) {
  const auto done = in(space, [&] {
    return run({.program = "ip", .arguments = {"-batch", "-"}}, lines);
  });
  if (done.how != ending{}) throw std::runtime_error("ip: " + done.errors + "of\n" + lines);
}

private_network::private_network(std::size_t hosts) {
  make_space(hub_);
  std::string lines;
  for (const std::string bridge : {whole, apart}) {
    lines += "link add " + bridge + " type bridge\nlink set " + bridge + " up\n";
  }
  for (std::size_t i = 0; i < hosts; ++i) {
    make_space(hosts_.emplace_back());
    const auto there =
        "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(hosts_[i].get());
    lines += "link add " + line_of(i) + " type veth peer name eth0 netns " + there + "\nlink set " +
             line_of(i) + " up\n";
  }
  configure(hub_, lines);
  heal();
  for (std::size_t i = 0; i < hosts; ++i) {
    configure(hosts_[i],
              "link set lo up\naddress add " + address(i) + "/24 dev eth0\nlink set eth0 up\n");
  }
}

std::string private_network::address(std::size_t host) {
  return "10.79.0." + std::to_string(host + 1);
}

void private_network::divide(const std::vector<std::size_t>& hosts) const {
  std::string lines;
  for (const auto host : hosts) lines += "link set " + line_of(host) + " master " + apart + "\n";
  configure(hub_, lines);
}

void private_network::heal() const {
  std::string lines;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    lines += "link set " + line_of(i) + " master " + whole + "\n";
  }
  configure(hub_, lines);
}

}  // namespace holdfast::support
