// Counters.
//
//   counter.hpp: "A 64-bit number on the server that any number of processes change. It begins at
//     zero." "A refused call has changed nothing."
//   counter.hpp, add: "Adds `n`, which may be negative; returns the sum. Throws `invalid_argument`
//     when the sum would have more than 64 bits."
//   counter.hpp, subtract: "Takes `n` away if at least `not_below` is left. Throws
//     `invalid_argument` when n < 0."
//   counter.hpp, compare_and_set: "Sets `desired` if the counter is `expected`."
//   counter.hpp, update: "Returns what the counter is then. `script` is the body of a Lua function
//     of `value` (a number) and `ARGV` [...]. It returns the new value, or nil to leave the counter
//     as it is. [...] Throws `server_error`, and changes nothing, when the script fails".
//   client.hpp: "`name` as for a lock; the two never meet."
#include <limits>
#include <optional>

#include "reference/kinds.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence number{
    "include/holdfast/counter.hpp",
    "A 64-bit number on the server that any number of processes change. [...] "
    "A refused call has changed nothing."};
constexpr sentence sum{
    "include/holdfast/counter.hpp, add",
    "Adds `n`, which may be negative; returns the sum. Throws `invalid_argument` "
    "when the sum would have more than 64 bits."};
constexpr sentence taken{"include/holdfast/counter.hpp, subtract",
                         "Takes `n` away if at least `not_below` is left. Throws "
                         "`invalid_argument` when n < 0."};
constexpr sentence set_if{"include/holdfast/counter.hpp, compare_and_set",
                          "Sets `desired` if the counter is `expected`."};
constexpr sentence computed{
    "include/holdfast/counter.hpp, update",
    "`script` is the body of a Lua function of `value` (a number) and "
    "`ARGV` [...]. It returns the new value, or nil to leave the counter as it is. [...] Throws "
    "`server_error` [...] when the old value or the new one is no whole number between -2^53 and "
    "2^53, both excluded"};

__extension__ typedef __int128 wide;
constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t exact = std::int64_t{1} << 53;

class counter_round {
 public:
  explicit counter_round(run& choices) : run_(choices), name_(choices.fresh_name()) {}

  void play() {
    for (auto left = run_.between(10, 60); left > 0; --left) {
      switch (run_.below(6)) {
        case 0:
          add();
          break;
        case 1:
          subtract();
          break;
        case 2:
          compare_and_set();
          break;
        case 3:
          set();
          break;
        case 4:
          update();
          break;
        default:
          lock_of_the_same_name();
          break;
      }
      const auto seen = at().get();
      run_.expect(
          seen == value_, number,
          "the counter is " + std::to_string(seen) + ", and should be " + std::to_string(value_));
    }
  }

 private:
  counter at() { return run_.of(run_.below(run_.on().clients())).counter(name_); }

  // Small ones, and those at the edges of what is exact.
  std::int64_t any() {
    switch (run_.below(5)) {
      case 0:
        return run_.between(-3, 3);
      case 1:
        return run_.chance(50) ? most - run_.between(0, 2) : least + run_.between(0, 2);
      case 2:
        return (run_.chance(50) ? exact : -exact) + run_.between(-2, 2);
      case 3:
        return (std::int64_t{1} << run_.between(54, 62)) + run_.between(-2, 2);
      default:
        return run_.between(-1'000, 1'000);
    }
  }

  void add() {
    const auto n = any();
    const auto expected = wide{value_} + n;
    const bool fits = expected >= least && expected <= most;
    std::int64_t got = 0;
    const auto said = outcome_of_call([&] { got = at().add(n); });
    run_.did("add " + std::to_string(n) + ": " + said + " " + std::to_string(got));
    run_.expect(said == (fits ? "ok" : "invalid_argument"), sum, "add said " + said);
    if (!fits) return;
    value_ = static_cast<std::int64_t>(expected);
    run_.expect(got == value_, sum, "add returned " + std::to_string(got));
  }

  void subtract() {
    const auto n = any(), floor = run_.chance(60) ? 0 : any();
    const auto left = wide{value_} - n;
    counter_change got;
    const auto said = outcome_of_call([&] { got = at().subtract(n, floor); });
    run_.did("subtract " + std::to_string(n) + " not below " + std::to_string(floor) + ": " + said +
             (got ? " changed " : " left ") + std::to_string(got.value));
    run_.expect(said == (n < 0 ? "invalid_argument" : "ok"), taken, "subtract said " + said);
    if (n < 0) return;
    const bool done = left >= floor && left >= least;
    if (done) value_ = static_cast<std::int64_t>(left);
    run_.expect(got.changed == done && got.value == value_, taken,
                "subtract should have left " + std::to_string(value_));
  }

  void compare_and_set() {
    const auto expected = run_.chance(60) ? value_ : any(), desired = any();
    const auto got = at().compare_and_set(expected, desired);
    run_.did("compare_and_set " + std::to_string(expected) + " " + std::to_string(desired) +
             (got ? ": changed " : ": left ") + std::to_string(got.value));
    const bool done = expected == value_;
    if (done) value_ = desired;
    run_.expect(got.changed == done && got.value == value_, set_if, "another answer");
  }

  void set() {
    value_ = any();
    at().set(value_);
    run_.did("set " + std::to_string(value_));
  }

  // Where a double is not exact, refusing is right, and so is the exact result.
  void update() {
    const auto by = any();
    const auto what = run_.below(3);
    static const char* const bodies[] = {"return value + tonumber(ARGV[1])",
                                         "return value - ARGV[1]", "return nil"};
    const auto expected = what == 2   ? wide{value_}
                          : what == 1 ? wide{value_} - by
                                      : wide{value_} + by;
    const auto is_exact = [](wide n) { return n > -exact && n < exact; };
    const bool small = is_exact(value_) && is_exact(by) && is_exact(expected);
    std::int64_t got = 0;
    const auto said =
        outcome_of_call([&] { got = at().update(bodies[what], {std::to_string(by)}); });
    run_.did(std::string("update ") + bodies[what] + " " + std::to_string(by) + ": " + said + " " +
             std::to_string(got));
    if (said != "ok" && !small) {
      return run_.expect(said == "server_error" || said == "invalid_argument", computed,
                         "update said " + said);
    }
    // The script itself reads its ARGV, as a double.
    const auto read = static_cast<wide>(std::stod(std::to_string(by)));
    const bool as_read = !small && what != 2 && got == (what == 1 ? value_ - read : value_ + read);
    run_.expect(
        said == "ok" && (got == expected || as_read), computed,
        "update of " + std::to_string(value_) + " said " + said + " " + std::to_string(got));
    value_ = got;
  }

  void lock_of_the_same_name() {
    const auto held = run_.of(0).mutex(name_).try_acquire();
    run_.did("a mutex of the same name: " + outcome_of(held));
    run_.expect(static_cast<bool>(held), number, "the mutex of the counter's name is not free");
  }

  run& run_;
  const std::string name_;
  std::int64_t value_ = 0;
};

}  // namespace

void play_counter(run& choices) { counter_round(choices).play(); }

}  // namespace holdfast::reference
