// Recursive mutexes.
//
//   recursive_mutex.hpp: "Each acquisition gives a lease; the last one that is released gives the
//     lock back. All leases of one hold have the same token and the same deadline, and are lost
//     together; after a loss, acquiring begins a new hold with a new token. Each client knows only
//     its own owners [...]. Another thread or owner is kept out, as by a plain mutex."
//   recursive_mutex.hpp, hold_count: "How many leases of the present hold the calling thread, or
//     `who`, has; 0 when it has none or has lost it."
#include <array>
#include <optional>
#include <vector>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/observer.hpp"
#include "reference/promises.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence one_hold{
    "include/holdfast/recursive_mutex.hpp",
    "All leases of one hold have the same token and the same deadline, and are lost together; "
    "after a loss, acquiring begins a new hold with a new token."};
constexpr sentence counted{
    "include/holdfast/recursive_mutex.hpp, hold_count",
    "How many leases of the present hold the calling thread, or `who`, has; 0 when it has none or "
    "has lost it."};
constexpr sentence kept_out{"include/holdfast/recursive_mutex.hpp",
                            "Another thread or owner is kept out, as by a plain mutex"};

constexpr std::size_t clients = 3, owners = 3;  // of each client; the last one is this thread

class recursive_round {
 public:
  explicit recursive_round(run& choices)
      : run_(choices), name_(choices.fresh_name()), sees_(choices) {
    fixed_ = run_.chance(50);
    const recursive_mutex_options options{
        .lease = milliseconds{fixed_ ? (run_.chance(50) ? 200 : 20'000) : 10'000},
        .renewal = fixed_ ? renewal::none : renewal::automatic};
    for (std::size_t i = 0; i < clients; ++i) {
      locks_.push_back(run_.of(i).recursive_mutex(name_, options));
    }
  }

  void play() {
    for (auto left = run_.between(10, 40); left > 0; --left) {
      await_end();
      run_.below(100) < 60 ? acquire() : run_.below(100) < 85 ? release() : extend();
      compare();
    }
    await_end();
    while (!leases_.empty()) release();
    compare();
  }

 private:
  void acquire() {
    const auto by = run_.below(clients), as = run_.below(owners);
    const bool mine = !leases_.empty() && by_ == by && as_ == as;
    const bool waits = run_.chance(20);
    const auto number = ++asked_;
    const auto timeout =
        waits ? std::optional{milliseconds{mine || leases_.empty() ? 5'000 : 30}} : std::nullopt;
    const auto asked = net::now();
    auto got = as + 1 == owners ? locks_[by].try_acquire({.timeout = timeout})
                                : locks_[by].of(owners_[as]).try_acquire({.timeout = timeout});
    const auto who = "owner " + std::to_string(as) + " of client " + std::to_string(by);
    run_.did(who + (waits ? " waits: " : " asks: ") + outcome_of(got));
    const auto expected = mine || leases_.empty() ? "ok" : waits ? "timed_out" : "busy";
    if (!leases_.empty() && !leases_[0]->look().held()) return;  // await_end takes it from here
    run_.expect(outcome_of(got) == expected, kept_out,
                who + " got " + outcome_of(got) + ", and should have: " + expected);
    if (!got) return;
    if (mine) {
      run_.expect(got->token() == leases_[0]->token(), one_hold, "two tokens of one hold");
    } else {
      ++hold_;
      run_.expect(got->token() > last_, promises::tokens, "a new hold has no larger token");
      by_ = by;
      as_ = as;
    }
    last_ = got->token();
    leases_.push_back(sees_.watch(std::move(*got), {.lock = name_,
                                                    .family = "mutex",
                                                    .same_hold = hold_,
                                                    .asked = asked,
                                                    .who = who + " #" + std::to_string(number)}));
  }

  void release() {
    if (leases_.empty()) return;
    const auto at = leases_.begin() + static_cast<std::ptrdiff_t>(run_.below(leases_.size()));
    (*at)->ends();
    const auto said = outcome_of((*at)->alone([](lease& held) { return held.release(); }));
    run_.did("releases one of " + std::to_string(leases_.size()) + ": " + said);
    run_.expect(said == "ok" || fixed_, promises::released, "a release said " + said);
    run_.expect(!(*at)->look().held(), promises::released, "held after its release");
    leases_.erase(at);
  }

  void extend() {
    if (leases_.empty()) return;
    const auto& one = run_.one_of(leases_);
    const auto said =
        outcome_of(one->alone([](lease& held) { return held.extend(milliseconds{2'000}); }));
    run_.did("extends: " + said);
    run_.expect(said == "ok" || fixed_, promises::extended, "extend said " + said);
    for (const auto& each : leases_) {
      run_.expect(said != "ok" || each->look().remaining() > milliseconds{1'900} - doubt, one_hold,
                  "another lease of the hold was not extended");
    }
  }

  // Nothing is asked when the lease is about to end.
  void await_end() {
    if (leases_.empty() || leases_[0]->look().remaining() > milliseconds{60}) return;
    run_.expect(support::eventually([&] { return !leases_[0]->look().held(); }), promises::belief,
                "a fixed lease does not end");
    run_.did("the lease ends");
    for (const auto& each : leases_) {
      run_.expect(support::eventually([&] { return each->look().lost().stop_requested(); }),
                  promises::loss, "a lease of the hold was not told its loss");
      run_.expect(!each->look().held(), one_hold, "one lease of the hold is left");
    }
    leases_.clear();
    run_.expect(support::eventually(
                    [&] { return run_.on().looks().status(name_).state == lock_state::free; }),
                promises::gone, "still held at the server");
  }

  void compare() {
    sees_.check();
    if (!leases_.empty() && leases_[0]->look().remaining() < milliseconds{60}) return;
    for (std::size_t by = 0; by < clients; ++by) {
      for (std::size_t as = 0; as < owners; ++as) {
        const auto expected = !leases_.empty() && by_ == by && as_ == as ? leases_.size() : 0;
        const auto said =
            as + 1 == owners ? locks_[by].hold_count() : locks_[by].hold_count(owners_[as]);
        run_.expect(said == expected, counted,
                    "hold_count is " + std::to_string(said) + ", and should be " +
                        std::to_string(expected));
      }
    }
    const auto seen = run_.on().looks().status(name_);
    run_.expect(seen.holding == (leases_.empty() ? 0U : 1U), promises::shown,
                std::to_string(seen.holding) + " hold it");
    if (!leases_.empty()) {
      run_.expect(seen.token == last_, promises::shown, "another token is shown");
    }
  }

  static constexpr milliseconds doubt{1'500};  // a busy machine
  run& run_;
  const std::string name_;
  observer sees_;
  bool fixed_ = false;
  std::vector<recursive_mutex> locks_;
  std::array<owner, owners - 1> owners_{};
  std::vector<std::shared_ptr<watched>> leases_;
  std::uint64_t hold_ = 0, by_ = 0, as_ = 0, asked_ = 0;
  fencing_token last_;
};

}  // namespace

void play_recursive(run& choices) { recursive_round(choices).play(); }

}  // namespace holdfast::reference
