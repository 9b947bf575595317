#include "faults/runs/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace holdfast::faults {

namespace {

using history::nanoseconds;

constexpr int threads = 3;

std::vector<access> by_mutex(const clients& redis, const contested& what) {
  return {{redis.told.mutex(what.name, what.options)}};
}

// Beside those who poll waits one who is told.
std::vector<access> by_polling(const clients& redis, const contested& what) {
  const access polled{redis.polls.mutex(what.name, what.options)};
  return {polled, polled, {redis.told.mutex(what.name, what.options)}};
}

// Three readers for each writer.
std::vector<access> by_readers(const clients& redis, const contested& what) {
  const auto both = redis.told.rw(what.name, what.options);
  const access reader{.target = both.shared(), .joins = true};
  return {reader, reader, reader, {both.exclusive()}};
}

using support::mode;

// Writers become readers, and upgradeable readers either. A plain reader can become nothing else.
std::vector<access> by_roles(const clients& redis, const contested& what) {
  const auto both = redis.told.rw(what.name, what.options);
  const auto change = [both](const lease& held, std::mt19937_64& any) -> std::optional<change_of> {
    const auto has = mode_of(held);
    if (has == mode::u && any() % 2 == 0) return change_of{both.upgrade(held), mode::ex};
    if (has != mode::u && has != mode::ex) return std::nullopt;
    return change_of{both.downgrade(held), mode::pr};
  };
  access reader{.target = both.shared(), .joins = true};
  return {reader,
          reader,
          {.target = both.upgradeable(), .change = change},
          {.target = both.exclusive(), .change = change}};
}

// All six, and from each to each.
std::vector<access> by_modes(const clients& redis, const contested& what) {
  constexpr std::array modes{
      lock_mode::null,           lock_mode::concurrent_read, lock_mode::concurrent_write,
      lock_mode::protected_read, lock_mode::protected_write, lock_mode::exclusive};
  const auto target = redis.told.mode_lock(what.name, what.options);
  const auto change = [=](const lease& held, std::mt19937_64& any) -> std::optional<change_of> {
    const auto has = mode_of(held);
    const auto to = modes.at(any() % modes.size());
    const auto wanted = support::mode_of(static_cast<char>(to));
    if (!has || has == wanted) return std::nullopt;
    return change_of{target.change(held, to), *wanted};
  };
  std::vector<access> all;
  for (const auto one : modes) all.push_back({.target = target.in(one), .change = change});
  return all;
}

std::vector<access> by_permits(const clients& redis, const contested& what) {
  constexpr std::uint32_t all = 3;
  const auto permits =
      redis.told.semaphore(what.name, {.permits = all, .lease = what.options.lease});
  return {{permits, 1, all}, {permits.permits(2), 2, all}, {permits.permits(3), 3, all}};
}

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
