// Barriers.
//
//   barrier.hpp: "A party that arrives waits until all parties have arrived. The last one lets all
//     go on at once [...], and the next generation begins. [...] A party that gives up (time-out,
//     `stop`) is no longer counted".
//   barrier.hpp, arrive_and_wait: "Returns the generation: the same number for all of them, and
//     greater than those of the generations before (but not by one)."
//   barrier.hpp, try_arrive_and_wait: "Without a timeout it goes on if it is the last that is
//     missing, and has not arrived otherwise (`errc::busy`)."
//   barrier.hpp: "`invalid_argument` when others wait there for another number of parties."
#include <set>

#include "reference/kinds.hpp"
#include "reference/promises.hpp"
#include "reference/wait_call.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence together{"include/holdfast/barrier.hpp",
                            "A party that arrives waits until all parties have arrived. The last "
                            "one lets all go on at once "
                            "[...] A party that gives up (time-out, `stop`) is no longer counted"};
constexpr sentence generations{
    "include/holdfast/barrier.hpp, arrive_and_wait",
    "Returns the generation: the same number for all of them, and greater than those of the "
    "generations before (but not by one)."};
constexpr sentence asks{
    "include/holdfast/barrier.hpp, try_arrive_and_wait",
    "Without a timeout it goes on if it is the last that is missing, and has not "
    "arrived otherwise (`errc::busy`)."};
constexpr sentence same_number{"include/holdfast/barrier.hpp",
                               "`invalid_argument` when others wait there for another number of "
                               "parties."};

class barrier_round {
 public:
  explicit barrier_round(run& choices)
      : run_(choices),
        name_(choices.fresh_name()),
        parties_(static_cast<std::uint32_t>(choices.between(1, 4))) {}

  void play() {
    for (auto left = run_.between(8, 30); left > 0; --left) {
      const auto dice = run_.below(10);
      dice < 5 ? arrive() : dice < 7 ? ask() : dice < 9 ? stop() : ask_for_others();
      compare();
    }
    while (!waiting_.empty()) {
      stop();
      compare();
    }
  }

 private:
  barrier at(std::uint32_t parties) {
    return run_.of(run_.below(run_.on().clients())).barrier(name_, parties);
  }

  void arrive() {
    const bool last = waiting_.size() + 1 == parties_;
    const bool timed = !last && run_.chance(20);
    auto& one = waiting_.emplace_back();
    one.expected = timed ? "timed_out" : "";
    run_.did(std::string("a party arrives") + (timed ? " (30 ms)" : ""));
    one.begin([this, here = at(parties_), timed](const std::stop_token& stop) {
      const auto got =
          here.try_arrive_and_wait({.timeout = milliseconds{timed ? 30 : 40'000}}, stop);
      if (got) note(*got);
      return outcome_of(got);
    });
    if (last) go_on();
  }

  void go_on() {
    for (auto& one : waiting_) one.expected = "ok";
    ended_ = true;
  }

  void ask() {
    const bool last = waiting_.size() + 1 == parties_;
    const auto got = at(parties_).try_arrive_and_wait();
    run_.did("a party asks once: " + outcome_of(got));
    run_.expect(outcome_of(got) == (last ? "ok" : "busy"), asks, "another answer");
    if (!got) return;
    note(*got);
    go_on();
  }

  void ask_for_others() {
    if (waiting_.empty()) return;
    const auto said = outcome_of(at(parties_ + 1).try_arrive_and_wait());
    run_.did("a party of another number asks: " + said);
    run_.expect(said == "invalid_argument", same_number, "it said " + said);
  }

  void stop() {
    if (waiting_.empty()) return;
    run_.did("a party gives up");
    waiting_.front().expected = "cancelled";
    waiting_.front().stop();
  }

  void note(std::uint64_t generation) {
    const std::lock_guard lock(guard_);
    now_.insert(generation);
  }

  void compare() {
    run_.expect_soon(together, [&] { return differs(); });
    if (!ended_) return;
    ended_ = false;
    const std::lock_guard lock(guard_);
    run_.expect(now_.size() == 1 && *now_.begin() > last_, generations,
                "a generation with " + std::to_string(now_.size()) + " numbers");
    last_ = *now_.begin();
    now_.clear();
  }

  std::string differs() {
    for (const auto& one : waiting_) {
      if (one.said() != one.expected) {
        return "a party got '" + one.said() + "', and should have: '" + one.expected + "'";
      }
    }
    std::erase_if(waiting_, [](const wait_call& one) { return !one.expected.empty(); });
    const auto seen = run_.on().looks().status(name_);
    const bool shut = !waiting_.empty();
    if ((seen.state == lock_state::shut) != shut) return "status: another state";
    if (shut && (seen.count != parties_ || seen.kind != lock_kind::barrier)) {
      return "status: " + std::to_string(seen.count) + " parties";
    }
    if (seen.waiting != waiting_.size()) {
      return "status: " + std::to_string(seen.waiting) +
             " wait, and should: " + std::to_string(waiting_.size());
    }
    return "";
  }

  run& run_;
  const std::string name_;
  const std::uint32_t parties_;
  std::mutex guard_;
  std::set<std::uint64_t> now_;  // what the parties of the present generation were told
  std::uint64_t last_ = 0;
  bool ended_ = false;
  std::list<wait_call> waiting_;
};

}  // namespace

void play_barrier(run& choices) { barrier_round(choices).play(); }

}  // namespace holdfast::reference
