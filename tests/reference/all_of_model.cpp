// Several locks as one.
//
//   all_of.hpp: "All or nothing: if an acquisition ends early, for whatever reason, what it had by
//     then is given back." "The lease is held while all parts are. `remaining()` is the least of
//     theirs, `token()` the largest"
//   all_of.hpp: "Throws `failure{invalid_argument}` when there is none, when two are the same lock
//     (in whatever modes or kinds [...]), or when one changes what is held already"
//   all_of.hpp, parts: "The parts of what `all_of` gave, by server and name"
#include <algorithm>
#include <map>
#include <optional>

#include <holdfast/all_of.hpp>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/observer.hpp"
#include "reference/promises.hpp"
#include "reference/wait_call.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence all_or_nothing{"include/holdfast/all_of.hpp",
                                  "A lock that is held when all of these are [...]. All or "
                                  "nothing: if an acquisition ends early, "
                                  "for whatever reason, what it had by then is given back."};
constexpr sentence largest{"include/holdfast/all_of.hpp",
                           "`remaining()` is the least of theirs, `token()` the largest"};
constexpr sentence by_name{"include/holdfast/all_of.hpp, parts",
                           "The parts of what `all_of` gave, by server and name"};
constexpr sentence refused{"include/holdfast/all_of.hpp",
                           "Throws `failure{invalid_argument}` when there is none, when two are "
                           "the same lock (in whatever "
                           "modes or kinds"};

enum class sort { mutex, reader_or_writer, permits };

// One name: what it is, and who has it.
struct part {
  std::string name;
  sort is = sort::mutex;
  std::vector<want> held;
};

struct hold {
  lease value;
  std::vector<std::pair<std::size_t, want>> has;
};

class several_round {
 public:
  explicit several_round(run& choices) : run_(choices) {
    static const std::vector<sort> sorts{sort::mutex, sort::reader_or_writer, sort::permits};
    for (int i = 0; i < 4; ++i) {
      parts_.push_back({run_.fresh_name(), run_.chance(50) ? sort::mutex : run_.one_of(sorts), {}});
    }
  }

  void play() {
    refuse();
    for (auto left = run_.between(10, 30); left > 0; --left) {
      run_.chance(60) ? acquire() : release();
    }
    if (!holds_.empty()) wait_for_everything();
    while (!holds_.empty()) release();
  }

 private:
  static constexpr std::uint32_t permits = 2;

  want any(std::size_t at) {
    if (parts_[at].is == sort::permits) return {mode::ex, run_.chance(30) ? 2U : 1U};
    return {parts_[at].is == sort::mutex || run_.chance(50) ? mode::ex : mode::pr, 0};
  }

  lock make(std::size_t by, std::size_t at, const want& asked) const {
    const auto& name = parts_[at].name;
    if (parts_[at].is == sort::mutex) return run_.of(by).mutex(name);
    if (parts_[at].is == sort::permits) {
      return run_.of(by).semaphore(name, {.permits = permits}).permits(asked.permits);
    }
    const auto rw = run_.of(by).read_write_lock(name, {.fair = true});
    return asked.in == mode::pr ? rw.shared() : rw.exclusive();
  }

  bool admits(std::size_t at, const want& asked) const {
    std::uint64_t used = asked.permits;
    for (const auto& one : parts_[at].held) {
      if (one.permits == 0 && !go_together(one.in, asked.in)) return false;
      used += one.permits;
    }
    return used <= permits;
  }

  void refuse() {
    const auto none = outcome_of_call([] { (void)holdfast::all_of({}); });
    const auto twice = outcome_of_call([&] {
      (void)holdfast::all_of(
          {run_.of(0).mutex(parts_[0].name), run_.of(1).read_write_lock(parts_[0].name).shared()});
    });
    run_.expect(none == "invalid_argument" && twice == "invalid_argument", refused,
                "none: " + none + "; twice: " + twice);
  }

  void acquire() {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (run_.chance(60)) chosen.push_back(i);
    }
    if (chosen.empty()) return;
    std::vector<lock> locks;
    std::vector<std::pair<std::size_t, want>> asked;
    const auto by = run_.below(run_.on().clients());
    const bool one_client = run_.chance(70);
    bool free = true;
    std::string text;
    for (const auto at : chosen) {
      asked.emplace_back(at, any(at));
      free = free && admits(at, asked.back().second);
      text += " " + std::to_string(at) + ":" + text_of(asked.back().second);
      locks.push_back(
          make(one_client ? by : run_.below(run_.on().clients()), at, asked.back().second));
    }
    for (std::size_t i = locks.size(); i > 1; --i) std::swap(locks[i - 1], locks[run_.below(i)]);
    const bool waits = run_.chance(30) && !free;
    const auto all = holdfast::all_of(locks);
    result<lease> got = errc::busy;
    const auto said = outcome_of_call([&] {
      got = all.try_acquire({.timeout = waits ? std::optional{milliseconds{15}} : std::nullopt});
    });
    run_.did("all of" + text + (waits ? " (15 ms): " : ": ") +
             (said == "ok" ? outcome_of(got) : said));
    // Which parts a thread has itself is told where it waits for one.
    if (waits && said == "would_deadlock") return settle();
    const auto expected = free ? "ok" : waits ? "timed_out" : "busy";
    run_.expect(said == "ok" && outcome_of(got) == expected, all_or_nothing,
                "all of" + text + " said " + outcome_of(got) + " " + said +
                    ", and should have: " + expected);
    if (got) {
      check(*got, asked);
      for (const auto& [at, has] : asked) parts_[at].held.push_back(has);
      holds_.push_back({std::move(*got), asked});
    }
    settle();
  }

  // All parts, in the way that goes with nobody, while others hold some; then they leave.
  void wait_for_everything() {
    std::vector<lock> locks;
    for (std::size_t at = 0; at < parts_.size(); ++at) {
      const bool counts = parts_[at].is == sort::permits;
      locks.push_back(make(run_.below(run_.on().clients()), at, {mode::ex, counts ? permits : 0}));
    }
    run_.did("one waits for all parts");
    wait_call waits;
    waits.begin([what = holdfast::all_of(locks)](const std::stop_token& stop) {
      return outcome_of(what.try_acquire({.timeout = milliseconds{30'000}}, stop));
    });
    while (!holds_.empty()) {
      run_.expect(waits.said().empty(), all_or_nothing, "it got " + waits.said() + " too early");
      const auto said = outcome_of(holds_.back().value.release());
      run_.expect(said == "ok", promises::released, "a release said " + said);
      for (const auto& [index, has] : holds_.back().has) {
        auto& held = parts_[index].held;
        held.erase(std::ranges::find(held, has));
      }
      holds_.pop_back();
    }
    run_.expect(support::eventually([&] { return waits.said() == "ok"; }, milliseconds{15'000}),
                all_or_nothing, "all parts are free, and it has: '" + waits.said() + "'");
    settle();
  }

  void check(const lease& got, const std::vector<std::pair<std::size_t, want>>& asked) {
    const auto told = holdfast::parts(got);
    std::vector<std::string> names, expected;
    fencing_token most;
    for (const auto& one : told) {
      names.push_back(one.name);
      most = std::max(most, one.token);
    }
    for (const auto& one : asked) expected.push_back(parts_[one.first].name);
    std::ranges::sort(expected);
    run_.expect(names == expected, by_name, "other parts than were asked for");
    run_.expect(most == got.token(), largest, "token() is not the largest of the parts");
    run_.expect(got.held() && got.remaining() > milliseconds{0}, all_or_nothing, "it is not held");
    for (const auto& one : told) {
      auto& last = tokens_[one.name];
      const bool reader = std::ranges::any_of(asked, [&](const auto& each) {
        return parts_[each.first].name == one.name && each.second.in == mode::pr;
      });
      run_.expect(reader || one.token > last, promises::tokens, "the token of a part fell");
      last = std::max(last, one.token);
    }
  }

  // A part that was given up need not be free at once: no document says when. But it must be soon.
  void settle() {
    run_.expect_soon(all_or_nothing, [&] {
      std::string why;
      for (const auto& one : parts_) {
        const auto seen = run_.on().looks().status(one.name);
        if (seen.holding != one.held.size() || seen.waiting != 0) {
          why = one.name + ": " + std::to_string(seen.holding) +
                " hold it, and should: " + std::to_string(one.held.size()) +
                "; wait: " + std::to_string(seen.waiting);
        }
      }
      return why;
    });
  }

  void release() {
    if (holds_.empty()) return;
    const auto at = holds_.begin() + static_cast<std::ptrdiff_t>(run_.below(holds_.size()));
    const auto said = outcome_of(at->value.release());
    run_.did("releases all of one: " + said);
    run_.expect(said == "ok" && !at->value.held(), promises::released, "a release said " + said);
    for (const auto& [index, has] : at->has) {
      auto& held = parts_[index].held;
      held.erase(std::ranges::find(held, has));
    }
    holds_.erase(at);
    settle();
  }

  run& run_;
  std::vector<part> parts_;
  std::vector<hold> holds_;
  std::map<std::string, fencing_token> tokens_;
};

}  // namespace

void play_all_of(run& choices) { several_round(choices).play(); }

}  // namespace holdfast::reference
