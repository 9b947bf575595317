// Latches.
//
//   kinds.md: "A latch is a number on the server that is counted down to zero, and waiters wait for
//     that." "`try_set(n)` sets a latch that is not set. A latch that is not set is open." "When it
//     opens, all waiters go on, and it can be set again. A client that waited before the opening
//     goes on even if the latch is set again before it hears of that."
//   latch.hpp, try_set: "False: it is set already, and stays as it is. Throws
//     `failure{invalid_argument}` when `count` is zero."
//   latch.hpp, count_down: "Counts it down, not below zero. Returns what is left; zero: it is
//   open." latch.hpp, try_wait: "Asks once (`errc::busy`: not open), or waits up to
//   `options.timeout`."
#include <algorithm>
#include <deque>

#include "reference/kinds.hpp"
#include "reference/promises.hpp"
#include "reference/wait_call.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence sets{
    "include/holdfast/latch.hpp, try_set",
    "Sets it to `count` if it is open. False: it is set already, and stays as it "
    "is. Throws `failure{invalid_argument}` when `count` is zero."};
constexpr sentence counts{
    "include/holdfast/latch.hpp, count_down",
    "Counts it down, not below zero. Returns what is left; zero: it is open."};
constexpr sentence opens{"docs/kinds.md, Latch",
                         "When it opens, all waiters go on, and it can be set again. A client that "
                         "waited before the opening goes on even if the latch is set again before "
                         "it hears of that."};
constexpr sentence asks{"include/holdfast/latch.hpp, try_wait",
                        "Asks once (`errc::busy`: not open), or waits up to `options.timeout`."};

class latch_round {
 public:
  explicit latch_round(run& choices) : run_(choices), name_(choices.fresh_name()) {}

  void play() {
    for (auto left = run_.between(10, 40); left > 0; --left) {
      switch (run_.below(8)) {
        case 0:
        case 1:
          set();
          break;
        case 2:
        case 3:
          down();
          break;
        case 4:
          ask();
          break;
        case 5:
        case 6:
          wait();
          break;
        default:
          stop();
          break;
      }
      compare();
    }
    if (left_ > 0) down_by(left_);
    compare();
  }

 private:
  latch at() { return run_.of(run_.below(run_.on().clients())).latch(name_); }

  void set() {
    const auto n = static_cast<std::uint32_t>(run_.between(0, 4));
    bool got = false;
    const auto said = outcome_of_call([&] { got = at().try_set(n); });
    run_.did("try_set " + std::to_string(n) + ": " + said + (got ? " true" : " false"));
    if (n == 0) return run_.expect(said == "invalid_argument", sets, "try_set(0) said " + said);
    run_.expect(said == "ok" && got == (left_ == 0), sets, "another answer");
    if (left_ == 0) left_ = n;
  }

  void down() { down_by(static_cast<std::uint32_t>(run_.between(1, 3))); }

  void down_by(std::uint32_t by) {
    const auto got = at().count_down(by);
    const bool opened = left_ > 0 && by >= left_;
    left_ -= std::min(left_, by);
    run_.did("count_down " + std::to_string(by) + ": " + std::to_string(got));
    run_.expect(got == left_, counts, "and should be " + std::to_string(left_));
    if (!opened) return;
    for (auto& one : waiting_) one.expected = "ok";
    if (run_.chance(50)) set();  // at once: who waits must go on all the same
  }

  void ask() {
    const auto said = outcome_of(at().try_wait());
    run_.did("try_wait: " + said);
    run_.expect(said == (left_ == 0 ? "ok" : "busy"), asks, "another answer");
  }

  void wait() {
    if (waiting_.size() >= 5) return;
    const bool timed = left_ > 0 && run_.chance(20);
    auto& one = waiting_.emplace_back();
    one.expected = left_ == 0 ? "ok" : timed ? "timed_out" : "";
    run_.did(std::string("a client waits") + (timed ? " (30 ms)" : ""));
    one.begin([here = at(), timed](const std::stop_token& stop) {
      return outcome_of(here.try_wait({.timeout = milliseconds{timed ? 30 : 40'000}}, stop));
    });
  }

  void stop() {
    for (auto& one : waiting_) {
      if (!one.expected.empty()) continue;
      run_.did("one that waits is stopped");
      one.expected = "cancelled";
      return one.stop();
    }
  }

  void compare() {
    run_.expect_soon(opens, [&] { return differs(); });
    run_.expect(at().count() == left_, counts, "count() says something else");
  }

  std::string differs() {
    for (const auto& one : waiting_) {
      const auto said = one.said();
      if (said != one.expected) {
        return "one that waits got '" + said + "', and should have: '" + one.expected + "'";
      }
    }
    std::erase_if(waiting_, [](const wait_call& one) { return !one.expected.empty(); });
    const auto seen = run_.on().looks().status(name_);
    const auto state = left_ > 0 ? lock_state::shut : lock_state::free;
    if (seen.state != state) return "status: another state";
    if (left_ > 0 && (seen.count != left_ || seen.kind != lock_kind::latch)) {
      return "status: count " + std::to_string(seen.count);
    }
    if (seen.waiting != waiting_.size()) {
      return "status: " + std::to_string(seen.waiting) +
             " wait, and should: " + std::to_string(waiting_.size());
    }
    return "";
  }

  run& run_;
  const std::string name_;
  std::uint32_t left_ = 0;
  std::list<wait_call> waiting_;
};

}  // namespace

void play_latch(run& choices) { latch_round(choices).play(); }

}  // namespace holdfast::reference
