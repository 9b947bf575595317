// What do the other kinds of locks cost beside the mutex, and do readers share without hindrance?
#include <functional>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/measure.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

// `pair`: acquired and given back, or one call of a value. `is_promised`: whether it must cost
// little more than the mutex.
struct kind {
  std::string name;
  std::function<void()> pair;
  bool is_promised = true;
};

std::vector<kind> locks_of(const client& redis) {
  const auto pairs_of = [](const lock& wanted) {
    return [wanted] { wanted.acquire().release().value(); };
  };
  const auto rw = redis.read_write_lock("bench-rw");
  const auto permits = redis.semaphore("bench-semaphore", {.permits = 10});
  const auto modes = redis.mode_lock("bench-mode");
  return {
      {"mutex", pairs_of(redis.mutex("bench"))},
      {"mutex_without_tokens", pairs_of(redis.mutex("bench-unfenced", {.fencing = fencing::off}))},
      {"fair_mutex", pairs_of(redis.mutex("bench-fair", {.fair = true}))},
      {"recursive_mutex",
       [wanted = redis.recursive_mutex("bench-recursive")] { wanted.acquire().release().value(); }},
      {"two_mutexes", pairs_of(all_of({redis.mutex("bench-1"), redis.mutex("bench-2")})), false},
      {"election", pairs_of(redis.election("bench-office"))},
      {"reader", pairs_of(rw.shared())},
      {"upgradeable_reader", pairs_of(rw.upgradeable())},
      {"writer", pairs_of(rw.exclusive())},
      {"permit", pairs_of(permits)},
      {"three_permits", pairs_of(permits.permits(3))},
      {"mode_lock", pairs_of(modes.in(lock_mode::protected_write))},
      {"mode_lock_ex", pairs_of(modes.in(lock_mode::exclusive))}};
}

std::vector<kind> values_of(const client& redis) {
  const auto held = redis.mutex("bench-token").acquire();
  return {
      {"latch", [gate = redis.latch("bench-latch")] { gate.wait(); }, false},
      {"barrier", [gate = redis.barrier("bench-barrier", 1)] { gate.arrive_and_wait(); }, false},
      {"counter", [number = redis.counter("bench-counter")] { number.add(1); }, false},
      {"fenced_write",
       [redis, token = held.token()] { (void)redis.fenced_set("bench-fenced", "value", token); },
       false},
      {"rate_limiter",
       [limiter = redis.rate_limiter("bench-rate", {.rate = 1e6, .burst = 1'000'000})] {
         limiter.acquire();
       },
       false},
  };
}

std::vector<kind> kinds_of(const client& redis) {
  auto all = locks_of(redis);
  for (auto& one : values_of(redis)) all.push_back(std::move(one));
  return all;
}

void uncontended_pairs(const setting& with) {
  const holdfast::client client(with.redis.url());
  const auto all = kinds_of(client);
  std::vector<contestant> contestants;
  for (const auto& one : all) {
    contestants.push_back([&] { return run_slice(1, with.turn(), [&](int) { one.pair(); }); });
  }
  const auto figures = run_by_turns(with.redis, with.turns(), contestants);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (!all[i].is_promised) continue;
    with.results.at_most("kinds." + all[i].name + "_vs_mutex", figures[i].p50 / figures[0].p50, "x",
                         1.2);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    with.results.tell("kinds." + all[i].name + "_p50", figures[i].p50, "us");
  }
}

// 64 readers of one lock against 64 mutexes.
void readers_together(const setting& with) {
  constexpr int threads = 64;
  const holdfast::client client(with.redis.url());
  const auto reader = client.read_write_lock("bench-rw").shared();
  std::vector<lock> own;
  for (int i = 0; i < threads; ++i) own.push_back(client.mutex("bench-" + std::to_string(i)));
  const auto figures = run_by_turns(
      with.redis, with.rounds(),
      {[&] {
         return run_slice(threads, with.slice(), [&](int i) {
           own[static_cast<std::size_t>(i)].acquire().release().value();
         });
       },
       [&] {
         return run_slice(threads, with.slice(), [&](int) { reader.acquire().release().value(); });
       }});
  with.results.at_least("kinds.readers64_vs_own_mutexes", figures[1].rate / figures[0].rate, "x",
                        0.9);
  with.results.tell("kinds.readers64", figures[1].rate, "pairs/s");
}

}  // namespace

void kinds(const setting& with) {
  with.redis.place(placement::two_cores);
  uncontended_pairs(with);
  with.redis.place(placement::free);
  readers_together(with);
}

}  // namespace holdfast::bench
