// Rate limiters.
//
//   rate_limiter.hpp: "In any time t no more than `burst + rate t` permits are given out, to all
//     processes together."
//   rate_limiter.hpp, try_acquire: "Takes `n` permits (1 to `burst`) if they are there now.";
//     rate_verdict::wait: "When not: how long it would take until they are there."
//   rate_limiter.hpp, acquire: "waits until they may be used: as long as the server says, and not
//     longer. If that would be longer than the timeout [...], it throws `timed_out` at once, and
//     takes nothing."; "The timeout and the stop token also end the wait for the server's answer.
//     Permits may have been taken then"
//
// The model knows each call's beginning and end alone, so it keeps two buckets: the fullest and the
// emptiest that the server's may be.
#include <algorithm>
#include <vector>

#include "net/clock.hpp"
#include "reference/kinds.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence limited{
    "include/holdfast/rate_limiter.hpp",
    "In any time t no more than `burst + rate t` permits are given out, to all "
    "processes together"};
constexpr sentence there{"include/holdfast/rate_limiter.hpp, try_acquire",
                         "Takes `n` permits (1 to `burst`) if they are there now."};
constexpr sentence told{"include/holdfast/rate_limiter.hpp",
                        "When not: how long it would take until they are there."};
constexpr sentence at_once{
    "include/holdfast/rate_limiter.hpp, acquire",
    "If that would be longer than the timeout [...], it throws `timed_out` at once, and takes "
    "nothing."};
constexpr sentence range{"include/holdfast/rate_limiter.hpp, try_acquire",
                         "`n` permits (1 to `burst`)"};

// Both clocks count the same seconds; a microsecond here and there is the server's rounding.
constexpr double rounding = 0.01;

class rate_round {
 public:
  explicit rate_round(run& choices)
      : run_(choices),
        name_(choices.fresh_name()),
        limit_{static_cast<double>(choices.between(2, 400)),
               static_cast<std::uint32_t>(choices.between(1, 20))},
        least_(limit_.burst),
        most_(limit_.burst),
        as_of_least_(now()),
        as_of_most_(as_of_least_) {}

  void play() {
    for (auto left = run_.between(10, 60); left > 0; --left) {
      const auto dice = run_.below(10);
      dice < 6 ? ask() : dice < 9 ? wait() : out_of_range();
    }
  }

 private:
  struct taken {
    double from, until, permits;
  };

  static double now() { return static_cast<double>(net::now().time_since_epoch().count()) / 1e9; }
  rate_limiter at() { return run_.of(run_.below(run_.on().clients())).rate_limiter(name_, limit_); }

  double emptiest(double when) const {
    return std::min<double>(limit_.burst, least_ + limit_.rate * (when - as_of_least_));
  }
  double fullest(double when) const {
    return std::min<double>(limit_.burst, most_ + limit_.rate * (when - as_of_most_));
  }

  void take(std::uint32_t n, double from, double until) {
    least_ = emptiest(until) - n;  // taken last of all, from a bucket that could not fill further
    as_of_least_ = until;
    most_ = fullest(from) - n;  // taken first of all
    as_of_most_ = from;
  }

  // Every interval that ends now: never more than burst + rate t.
  void given(std::uint32_t n, double from, double until) {
    given_.push_back({from, until, static_cast<double>(n)});
    double sum = 0;
    for (auto one = given_.rbegin(); one != given_.rend(); ++one) {
      sum += one->permits;
      const auto allowed = limit_.burst + limit_.rate * (until - one->from) + rounding;
      run_.expect(sum <= allowed, limited,
                  std::to_string(sum) + " permits in " + std::to_string(until - one->from) +
                      " s, allowed: " + std::to_string(allowed));
    }
  }

  void ask() {
    const auto n = static_cast<std::uint32_t>(run_.between(1, limit_.burst));
    const auto from = now();
    const auto got = at().try_acquire(n);
    const auto until = now();
    run_.did("asks for " + std::to_string(n) + " of rate " + std::to_string(limit_.rate) +
             " burst " + std::to_string(limit_.burst) + (got ? ": taken" : ": wait ") +
             std::to_string(got.wait.count()));
    const auto sure = emptiest(from), possible = fullest(until);
    if (got) {
      run_.expect(possible + rounding >= n, limited,
                  "at most " + std::to_string(possible) + " can be there");
      take(n, from, until);
      return given(n, from, until);
    }
    run_.expect(sure < n + rounding, there, "at least " + std::to_string(sure) + " must be there");
    const auto wait = static_cast<double>(got.wait.count()) / 1e6;
    const auto longest = (n - sure) / limit_.rate + 0.002;
    const auto shortest = (n - possible) / limit_.rate - 0.002;
    run_.expect(wait > 0 && wait <= longest && wait >= shortest, told,
                "told to wait for " + std::to_string(wait) + " s, between " +
                    std::to_string(shortest) + " and " + std::to_string(longest));
  }

  void wait() {
    const auto n = static_cast<std::uint32_t>(run_.between(1, limit_.burst));
    const auto timeout = run_.between(0, 120);
    const auto from = now();
    const auto said = outcome_of_call([&] { at().acquire(n, {.timeout = milliseconds{timeout}}); });
    const auto until = now();
    run_.did("waits for " + std::to_string(n) + " up to " + std::to_string(timeout) +
             " ms: " + said);
    // The permits are taken at some time of the call, and used from its end on.
    const auto sure = (n - fullest(until)) / limit_.rate,
               longest = (n - emptiest(from)) / limit_.rate;
    const auto allowed = static_cast<double>(timeout) / 1e3;
    if (said == "ok") {
      run_.expect(sure <= allowed + (until - from) + 0.002, at_once, "it should have timed out");
      take(n, from, until);
      given_.push_back({from, until, static_cast<double>(n)});
      return;
    }
    run_.expect(said == "timed_out", at_once, "it said " + said);
    // On a busy machine the answer may have come too late.
    if (timeout > 0 && until - from >= allowed) {
      least_ = emptiest(until) - n;
      as_of_least_ = until;
      return;
    }
    run_.expect(longest + 0.002 >= allowed, at_once, "they would have been there in time");
  }

  void out_of_range() {
    const auto said = outcome_of_call([&] { (void)at().try_acquire(limit_.burst + 1); });
    const auto none = outcome_of_call([&] { (void)at().try_acquire(0); });
    run_.expect(said == "invalid_argument" && none == "invalid_argument", range,
                "more than burst: " + said + "; none: " + none);
  }

  run& run_;
  const std::string name_;
  const rate_limit limit_;
  double least_, most_, as_of_least_, as_of_most_;
  std::vector<taken> given_;
};

}  // namespace

void play_rate_limiter(run& choices) { rate_round(choices).play(); }

}  // namespace holdfast::reference
