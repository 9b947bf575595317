#include "faults/runs/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace holdfast::faults {

namespace {

using history::nanoseconds;

constexpr int threads = 3;

}  // namespace

const std::vector<contested>& contests() {
  static const std::vector<contested> all{
      {"usual", {.lease = milliseconds(500)}, by_mutex},
      {"fair", {.lease = milliseconds(400), .fair = true}, by_mutex},
      {"kept", {.lease = milliseconds(500), .retain = milliseconds(400)}, by_mutex},
      {"fixed", {.lease = milliseconds(300), .renewal = renewal::none}, by_mutex},
      {"polled", {.lease = milliseconds(400)}, by_polling},
      {"shared", {.lease = milliseconds(400)}, by_readers},
      {"roles", {.lease = milliseconds(400)}, by_roles},
      {"modes", {.lease = milliseconds(400)}, by_modes},
      {"permits", {.lease = milliseconds(400)}, by_permits},
  };
  return all;
}

milliseconds longest_lease() {
  milliseconds longest{};
  for (const auto& one : contests()) longest = std::max(longest, *one.options.lease);
  return longest;
}

std::vector<std::string> assignment::to_arguments() const {
  return {"worker",
          server,
          resources,
          directory,
          std::to_string(seed),
          mode == tokens::checked ? "checked" : "ignored"};
}

assignment assignment::from_arguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 6) throw std::invalid_argument("a worker needs five arguments");
  return {arguments[1], arguments[2], arguments[3], std::stoull(arguments[4]),
          arguments[5] == "checked" ? tokens::checked : tokens::ignored};
}

void work(const assignment& what) {
  client_options how{
      .connect_timeout = patience, .response_timeout = patience, .name = connection_name};
  const client told(what.server, how);
  how.wakeup = wakeup::poll;
  const clients redis{told, client(what.server, how)};
  recorder log(what.directory);
  observer sees(log);
  std::vector<contended> locks;
  for (const auto& one : contests()) locks.push_back({one.name, one.options, one.ways(redis, one)});
  std::cout << worker_is_ready << '\n' << std::flush;
  std::int64_t until = 0;
  if (!(std::cin >> until)) throw std::runtime_error("a worker is not told until when");
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      contender(locks, what.resources, what.mode, ::getpid(), nanoseconds(until), log, sees,
                what.seed * threads + std::uint64_t(i))
          .run();
    });
  }
  for (auto& one : running) one.join();
}

}  // namespace holdfast::faults
