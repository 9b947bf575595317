// Hosts of a test's own, on a network that can be divided.
#pragma once

#include <cstddef>
#include <deque>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include "net/descriptor.hpp"

namespace holdfast::support {

// Network namespaces without names, joined by a bridge in one more: nothing of them is seen
// outside, and they end with the last process and descriptor in them, however the test ends.
// Thread safety: one thread at a time, but for at().
class private_network {
 public:
  // Why there can be none here; empty: there can.
  static std::string obstacle();

  explicit private_network(std::size_t hosts);

  static std::string address(std::size_t host);

  // Does this on one of the hosts and returns what it returns. The servers and clients that it
  // makes are on that host as well, since their processes and threads come from its thread.
  template <typename Function>
  auto at(std::size_t host, Function&& function) const {
    return in(hosts_.at(host), std::forward<Function>(function));
  }

  // From now on these hosts and the others do not reach each other: what is sent vanishes, and
  // connections stay as they are.
  void divide(const std::vector<std::size_t>& apart) const;
  void heal() const;

 private:
  static void enter(const net::descriptor& space);
  static void make_space(net::descriptor& into);
  static void configure(const net::descriptor& space, const std::string& lines);

  template <typename Function>
  static auto in(const net::descriptor& space, Function&& function) {
    return std::async(std::launch::async,
                      [&] {
                        enter(space);
                        return std::forward<Function>(function)();
                      })
        .get();
  }

  net::descriptor hub_;
  std::deque<net::descriptor> hosts_;
};

}  // namespace holdfast::support
