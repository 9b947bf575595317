// Locks that are taken, and written under, until their master is lost; and how many of them the
// replica does not know that takes over.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "faults/runs/resource.hpp"
#include "support/history/checker.hpp"

namespace holdfast::faults {

// Of a server, or of one master of a cluster.
struct failover {
  std::function<std::string(const std::string&)> name;  // a lock of this master that has it in it
  std::function<void()> cut_off;                        // the replica hears nothing from now on
  std::function<void()> lose;                           // the master, while it is asked
  std::function<client()> take_over;                    // the replica does: a client of it
  std::function<bool(const std::string&)> is_known;     // a lock, to the replica then
};

// Adds one to what the lock protects, as its holder.
inline bool add_one(resource& numbers, const lease& mine) {
  const auto number = numbers.read(mine.name(), mine.token().value());
  const history::event writer{.lock = mine.name(), .token = mine.token().value()};
  return numbers.write(writer, number.value_or(0) + 1);
}

inline std::vector<lease> taken_until_it_is_lost(const failover& of, const client& redis,
                                                 const std::string& numbers) {
  std::mutex guard;
  std::vector<lease> taken;
  std::atomic<std::size_t> attempts{0};
  std::atomic<bool> over{false};
  const auto work = [&](int thread) {
    resource mine(numbers, tokens::checked);
    for (int i = 0; !over; ++i) {
      const auto name = of.name(std::to_string(thread) + ":" + std::to_string(i));
      auto got = redis.mutex(name, {.lease = 600s}).try_acquire();
      EXPECT_TRUE(!got || add_one(mine, *got));
      ++attempts;
      const std::lock_guard lock(guard);
      if (got) taken.push_back(*std::move(got));
    }
  };
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(std::async(std::launch::async, work, i));
  const auto reached = [&](std::size_t count) {
    return eventually([&] { return attempts >= count; });
  };
  EXPECT_TRUE(reached(50));
  of.cut_off();
  EXPECT_TRUE(reached(attempts + 8));
  of.lose();
  over = true;
  threads.clear();
  return taken;
}

// The resource has taken every write of the one who had the lock then, and no later one.
inline void expect_writes_in_order(resource& numbers, const std::vector<lease>& taken) {
  std::vector<history::event> writes;
  for (const auto& one : taken) {
    for (const auto& write : numbers.log(one.name())) writes.push_back(write);
  }
  for (const auto& broken : history::check(history::story(writes))) {
    ADD_FAILURE() << to_text(broken);
  }
}

// The next master gives larger tokens, so that a client that has lost its lock writes nothing after
// the next holder did. `protected_numbers` is the socket of a server of their own.
inline std::size_t lost_in_a_failover(const failover& of, const client& redis,
                                      const std::string& protected_numbers) {
  const auto next = of.name("next");
  const auto taken = taken_until_it_is_lost(of, redis, protected_numbers);
  const client other = of.take_over();
  resource numbers(protected_numbers, tokens::checked);
  std::size_t lost = 0;
  std::uint64_t last = 0;
  for (const auto& one : taken) {
    last = std::max(last, one.token().value());
    if (of.is_known(one.name())) continue;
    ++lost;
    EXPECT_TRUE(add_one(numbers, other.mutex(one.name()).acquire()));
    EXPECT_FALSE(add_one(numbers, one)) << "late";
  }
  EXPECT_GT(other.mutex(next).acquire().token().value(), last);
  expect_writes_in_order(numbers, taken);
  return lost;
}

}  // namespace holdfast::faults
