// The locks and clients of one server, as serve saw them at one moment.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

#include "cli/serve/waits_graph.hpp"

namespace holdfast::cli {

// A client, with what it holds and waits for.
struct client_view {
  holder who;
  std::vector<std::string> holds{};  // names, the first 100 of them
  std::vector<std::string> waits{};
  std::size_t holding = 0;
  std::size_t waiting = 0;
};

struct look {
  using time_point = std::chrono::system_clock::time_point;

  lock_listing locks{};
  std::vector<client_view> clients{};  // in the order of their ids
  bool clients_complete = false;
  std::vector<unseen_locks> unseen_clients{};
  waits_graph waits{};
  std::size_t waiters = 0;              // of all locks
  std::optional<time_point> now{};      // by the server's clock
  time_point seen_at{};                 // by ours
  std::chrono::milliseconds done_at{};  // boot_time()
  std::chrono::nanoseconds took{};
  std::chrono::milliseconds rest{};  // until the next one, at least
};

// The id of a holder or waiter is that of its request: the client's, and a number. From now on it
// is that of the client alone, so that all that one client holds and waits for is seen to be its
// own. Other libraries have no such numbers.
void name_clients(lock_status& lock);

// Completes what follows from the list of locks, and from the clients that are registered. Those
// that hold or wait and are not registered (of other libraries) are clients, too.
void sum_up(look& seen, const client_listing& registered);

}  // namespace holdfast::cli
