#include "support/raw_connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "net/clock.hpp"
#include "redis/resp/parser.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::support {
namespace {

[[noreturn]] void give_up(const std::string& what) {
  throw std::runtime_error("raw connection: " + what);
}

}  // namespace

raw_connection::raw_connection(const net::endpoint& where, milliseconds patience)
    : patience_(patience) {
  const auto problem = net::connect(where, {net::now() + patience_, patience_, nullptr}, socket_);
  if (!problem.empty()) give_up(problem);
}

resp::value raw_connection::command(const std::vector<std::string>& words) {
  std::string bytes;
  resp::writer writer(bytes);
  writer.command(words.size());
  for (const auto& word : words) writer.arg(word);
  send(bytes);
  return read_value();
}

void raw_connection::send(std::string_view bytes) {
  const net::connect_limits limits{net::now() + patience_, {}, nullptr};
  while (!bytes.empty()) {
    const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      give_up(std::generic_category().message(errno));
    } else if (!net::wait_ready(socket_.get(), POLLOUT, limits)) {
      give_up("the peer reads nothing");
    }
  }
}

resp::value raw_connection::read_value() {
  resp::value value;
  for (;;) {
    const auto result = resp::parse(received_, value);
    if (result.what == resp::parse_result::outcome::malformed) give_up("malformed reply");
    if (result.what == resp::parse_result::outcome::complete) {
      received_.erase(0, result.consumed);
      return value;
    }
    if (!receive()) give_up("the peer has closed the connection");
  }
}

std::string raw_connection::read_some() {
  if (received_.empty()) receive();
  return std::exchange(received_, {});
}

bool raw_connection::closed_by_peer() { return received_.empty() && !receive(); }

bool raw_connection::receive() {
  if (!net::wait_ready(socket_.get(), POLLIN, {net::now() + patience_, {}, nullptr})) {
    give_up("no answer in time");
  }
  char buffer[16 * 1024];
  const auto got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
  if (got < 0 && errno != ECONNRESET) give_up(std::generic_category().message(errno));
  if (got <= 0) return false;
  received_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

}  // namespace holdfast::support
