// The value block of a mode lock.
//
//   kinds.md, Value block: "Up to 64 bytes go with the lock [...]. A holder in PW or EX writes
//     them, and later holders read what the last writer has left". "Each write happens once, and
//     never by a holder whose lease has ended. [...] The value is kept [...] until it is written
//     empty."
//   mode_lock.hpp, value: "Empty when there is none. [...] Throws `failure{lost}` when `held` has
//     ended, `failure{invalid_argument}` when it is not a lease of this lock".
//   mode_lock.hpp, set_value: "Throws as `value` does, and `failure{invalid_argument}` when `held`
//     is in another mode [...], and for more than 64 bytes." (Any refusal does for another mode.)
#include <optional>
#include <vector>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/modes.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence left_behind{
    "docs/kinds.md, Value block",
    "A holder in PW or EX writes them, and later holders read what the last writer has left [...] "
    "The value is kept [...] until it is written empty."};
constexpr sentence not_by_ended{"docs/kinds.md, Value block",
                                "Each write happens once, and never by a holder whose lease has "
                                "ended."};
constexpr sentence only_its_own{"include/holdfast/mode_lock.hpp, value",
                                "Throws `failure{lost}` when `held` has ended, "
                                "`failure{invalid_argument}` when it is not a lease of this lock"};

struct mode_holder {
  lease at;
  mode in;
  std::size_t by;
};

class value_round {
 public:
  explicit value_round(run& choices) : run_(choices), name_(choices.fresh_name()) {}

  void play() {
    for (auto left = run_.between(10, 50); left > 0; --left) {
      switch (run_.below(6)) {
        case 0:
        case 1:
          acquire();
          break;
        case 2:
          read();
          break;
        case 3:
        case 4:
          write();
          break;
        default:
          run_.chance(50) ? change() : leave();
          break;
      }
    }
    holders_.clear();
    ended_writes_nothing();
  }

 private:
  mode_lock at(std::size_t by) { return run_.of(by).mode_lock(name_); }

  bool free_for(mode wanted, const mode_holder* without = nullptr) const {
    for (const auto& one : holders_) {
      if (&one != without && !go_together(one.in, wanted)) return false;
    }
    return true;
  }

  void acquire() {
    const mode wanted{run_.below(6)};
    const auto by = run_.below(run_.on().clients());
    if (!free_for(wanted) || holders_.size() >= 4) return leave();
    auto got = at(by).in(public_mode(wanted)).try_acquire({.timeout = milliseconds{5'000}});
    run_.did("acquires " + name_of(wanted) + ": " + outcome_of(got));
    run_.expect(static_cast<bool>(got), left_behind, "a free lock: " + outcome_of(got));
    holders_.push_back({std::move(*got), wanted, by});
    read_by(holders_.back());
  }

  mode_holder* any_holder() {
    return holders_.empty() ? nullptr : &holders_[run_.below(holders_.size())];
  }

  void read() {
    if (auto* const one = any_holder()) read_by(*one);
  }

  void read_by(const mode_holder& one) {
    const auto seen = at(one.by).value(one.at);
    run_.expect(seen == value_, left_behind, "read '" + seen + "', and should be '" + value_ + "'");
  }

  void write() {
    auto* const one = any_holder();
    if (one == nullptr) return;
    static const std::vector<std::size_t> lengths{0, 1, 8, 63, 64, 65};
    std::string bytes(run_.one_of(lengths), '\0');
    for (auto& byte : bytes) byte = static_cast<char>(run_.below(256));
    const auto said = outcome_of_call([&] { at(one->by).set_value(one->at, bytes); });
    run_.did(name_of(one->in) + " writes " + std::to_string(bytes.size()) + " bytes: " + said);
    const bool may = one->in == mode::pw || one->in == mode::ex;
    if (may && bytes.size() <= 64) {
      run_.expect(said == "ok", left_behind, "writing said " + said);
      value_ = bytes;
    } else {
      run_.expect(said != "ok", left_behind,
                  "it wrote " + std::to_string(bytes.size()) + " bytes in " + name_of(one->in));
      if (may) run_.expect(said == "invalid_argument", only_its_own, "too many bytes: " + said);
    }
    read_by(*one);
  }

  void change() {
    auto* const one = any_holder();
    if (one == nullptr) return;
    const mode to{run_.below(6)};
    if (!free_for(to, one)) return;
    auto got = at(one->by).change(one->at, public_mode(to)).try_acquire();
    run_.did("changes from " + name_of(one->in) + " to " + name_of(to) + ": " + outcome_of(got));
    run_.expect(static_cast<bool>(got), left_behind, "a change that is free: " + outcome_of(got));
    one->at = std::move(*got);
    one->in = to;
    read_by(*one);
  }

  void leave() {
    if (holders_.empty()) return;
    const auto which = run_.below(holders_.size());
    run_.did(name_of(holders_[which].in) + " leaves");
    (void)holders_[which].at.release();
    holders_.erase(holders_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void ended_writes_nothing() {
    const auto fixed =
        run_.of(0).mode_lock(name_, {.lease = milliseconds{60}, .renewal = renewal::none});
    auto held = fixed.in(lock_mode::exclusive).acquire({.timeout = milliseconds{5'000}});
    const auto other = run_.of(1).mode_lock(run_.fresh_name());
    const auto foreign = outcome_of_call([&] { (void)other.value(held); });
    run_.expect(foreign == "invalid_argument" || !held.held(), only_its_own,
                "a lease of another lock: " + foreign);
    run_.expect(support::eventually([&] { return !held.held(); }), not_by_ended, "it does not end");
    const auto said = outcome_of_call([&] { fixed.set_value(held, "late"); });
    const auto read = outcome_of_call([&] { (void)fixed.value(held); });
    run_.did("an ended lease writes: " + said + ", and reads: " + read);
    run_.expect(said == "lost" && read == "lost", not_by_ended,
                "an ended lease wrote: " + said + ", and read: " + read);
    const auto next = at(2).in(lock_mode::null).acquire({.timeout = milliseconds{5'000}});
    run_.expect(at(2).value(next) == value_, not_by_ended, "an ended lease has written");
  }

  run& run_;
  const std::string name_;
  std::vector<mode_holder> holders_;
  std::string value_;
};

}  // namespace

void play_value_block(run& choices) { value_round(choices).play(); }

}  // namespace holdfast::reference
