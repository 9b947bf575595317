#include "net/resolve.hpp"

#include <poll.h>

#include <system_error>
#include <utility>

#include "base/mutex.hpp"
#include "net/own_to_process.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::net {
namespace {

constexpr std::size_t most_under_way = 256;

address_list owned(addrinfo* list) {
  return list == nullptr ? address_list{} : address_list{list, freeaddrinfo};
}

// Shared by the threads that ask and the one that looks up; the last to end frees it.
struct look_up {
  std::string host;
  std::string port;
  wake_up done;
  resolved found{};

  void run() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    const int code = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
    if (code == 0) {
      found.addresses = owned(list);
    } else {
      found.problem = "the host name '" + host + "' is unknown: " + gai_strerror(code);
    }
  }
};

// Those under way in this process.
class look_ups {
 public:
  // The one for this host, or a new one. Null: there are too many.
  std::shared_ptr<look_up> join(const std::string& host, const std::string& port) {
    const scoped_mutex lock(guard_);
    for (const auto& one : all_) {
      if (one->host == host && one->port == port) return one;
    }
    if (all_.size() >= most_under_way) return nullptr;
    const auto made = std::make_shared<look_up>();
    made->host = host;
    made->port = port;
    all_.push_back(made);
    try {
      quiet_thread("holdfast-dns", [this, made] {
        made->run();
        forget(made);
        made->done.signal();
      }).detach();
    } catch (...) {
      all_.pop_back();
      throw;
    }
    return made;
  }

  // When it is done.
  resolved answer(const look_up& one) {
    const scoped_mutex lock(guard_);  // since when it was forgotten it has not changed
    return one.found;
  }

 private:
  void forget(const std::shared_ptr<look_up>& one) {
    const scoped_mutex lock(guard_);
    std::erase(all_, one);
  }

  mutex guard_;
  std::vector<std::shared_ptr<look_up>> all_ HOLDFAST_GUARDED_BY(guard_);
};

// Numeric addresses need no look-up and no thread.
address_list numeric(const tcp_endpoint& where) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const auto port = std::to_string(where.port);
  const auto& host = where.at.empty() ? where.host : where.at;
  return owned(getaddrinfo(host.c_str(), port.c_str(), &hints, &list) == 0 ? list : nullptr);
}

resolved look_up_aside(const tcp_endpoint& where, const connect_limits& limits) {
  auto& all = own_to_process<look_ups>();
  const auto job = all.join(where.host, std::to_string(where.port));
  if (!job) {
    return {nullptr, "the host name '" + where.host +
                         "' cannot be looked up: too many other names are being looked up"};
  }
  if (!wait_ready(job->done.fd(), POLLIN, limits)) {
    return {nullptr, "looking up the host name '" + where.host + "' took too long"};
  }
  return all.answer(*job);
}

}  // namespace

resolved resolve(const tcp_endpoint& where, const connect_limits& limits) {
  if (auto list = numeric(where)) return {std::move(list), {}};
  try {
    return look_up_aside(where, limits);
  } catch (const std::system_error& none_left) {
    return {nullptr, "the host name '" + where.host +
                         "' cannot be looked up: " + none_left.code().message()};
  }
}

std::string take_apart(const tcp_endpoint& where, const connect_limits& limits,
                       std::vector<endpoint>& into) {
  const auto found = resolve(where, limits);
  for (const addrinfo* a = found.addresses.get(); a != nullptr; a = a->ai_next) {
    char number[NI_MAXHOST];
    const int code =
        getnameinfo(a->ai_addr, a->ai_addrlen, number, sizeof number, nullptr, 0, NI_NUMERICHOST);
    if (code == 0) into.emplace_back(tcp_endpoint{where.host, where.port, number});
  }
  if (into.size() == 1) into.front() = where;
  return found.problem;
}

}  // namespace holdfast::net
