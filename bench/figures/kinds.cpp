// What do the other kinds of locks cost beside the mutex, and do readers share without hindrance?
#include <functional>
#include <string>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/measure.hpp"
#include "support/report.hpp"

namespace holdfast::bench {
namespace {

struct kind {
  std::string name;
  std::function<void()> pair;
};

std::vector<kind> kinds_of(const client& redis) {
  const auto pairs_of = [](const lock& wanted) {
    return [wanted] { wanted.acquire().release().value(); };
  };
  const auto rw = redis.rw("bench-rw");
  const auto permits = redis.semaphore("bench-semaphore", {.permits = 10});
  return {
      {"mutex", pairs_of(redis.mutex("bench"))},
      {"fair_mutex", pairs_of(redis.mutex("bench-fair", {.fair = true}))},
      {"recursive_mutex",
       [wanted = redis.recursive_mutex("bench-recursive")] { wanted.acquire().release().value(); }},
      {"reader", pairs_of(rw.shared())},
      {"writer", pairs_of(rw.exclusive())},
      {"permit", pairs_of(permits)},
      {"three_permits", pairs_of(permits.permits(3))},
      {"mode_lock", pairs_of(redis.mode_lock("bench-mode").in(lock_mode::protected_write))}};
}

void uncontended_pairs(const setting& with) {
  const holdfast::client client(with.redis.url());
  const auto all = kinds_of(client);
  std::vector<contestant> contestants;
  for (const auto& one : all) {
    contestants.push_back([&] { return run_slice(1, with.slice(), [&](int) { one.pair(); }); });
  }
  const auto figures = run_by_turns(with.rounds(), contestants);
  for (std::size_t i = 1; i < all.size(); ++i) {
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
  const auto reader = client.rw("bench-rw").shared();
  std::vector<lock> own;
  for (int i = 0; i < threads; ++i) own.push_back(client.mutex("bench-" + std::to_string(i)));
  const auto figures = run_by_turns(
      with.rounds(), {[&] {
                        return run_slice(threads, with.slice(), [&](int i) {
                          own[static_cast<std::size_t>(i)].acquire().release().value();
                        });
                      },
                      [&] {
                        return run_slice(threads, with.slice(),
                                         [&](int) { reader.acquire().release().value(); });
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
