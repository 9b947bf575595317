// A rate limiter whose permits are taken, waited for and given back.
#include <algorithm>
#include <map>
#include <vector>

#include "redis/dialects/holdfast/rate.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/value_watches.hpp"

namespace holdfast::simulation::gates {
namespace {

using namespace std::chrono_literals;

constexpr nanoseconds each = 20ms;
constexpr std::uint64_t burst = 5;
constexpr nanoseconds all = burst * each;
// When permits are due is said in whole microseconds.
constexpr nanoseconds inexact = 1us;
constexpr nanoseconds longest_wait = 400ms;

class rate_watch final : public change_watch {
 public:
  using change_watch::change_watch;

  bool lasts(std::string_view) const override { return false; }

  dialects::once_call draw(const std::string& request) override {
    auto& dice = in().chance();
    if (const auto* const unused = draw_unused(); unused != nullptr) {
      wishes_[request] = {.cost = unused->cost, .gives_back = true, .due = unused->due};
      return dialects::rate_give_back(key_, unused->cost, all, unused->due);
    }
    const wish what{.cost = each * static_cast<std::int64_t>(1 + dice.up_to(burst - 1)),
                    .longest = dice.chance(40) ? 0us
                                               : std::chrono::floor<microseconds>(
                                                     dice.time_up_to(longest_wait))};
    wishes_[request] = what;
    return dialects::rate_take(key_, what.cost, all, what.longest);
  }

  // Permits that were given out before may come again, or a clock that was set back makes them due
  // later.
  void happened(fault what) override {
    change_watch::happened(what);
    if (what != fault::clock_forward) given_.clear();
  }

 private:
  struct wish {
    nanoseconds cost{};
    microseconds longest{};
    bool gives_back = false;
    server_time due{};
  };
  struct grant {
    server_time due{};
    nanoseconds cost{};
    bool returned = false;  // somebody was drawn who gives it back
  };

  std::string look() override { return text_at(key_.key); }

  server_time now() const { return server_time{in().server().now()}; }

  // One whose permits are not due yet, now and then.
  const grant* draw_unused() {
    auto& dice = in().chance();
    if (given_.empty() || !dice.chance(25)) return nullptr;
    auto& drawn = given_[dice.up_to(given_.size() - 1)];
    if (drawn.returned || drawn.due <= now()) return nullptr;
    drawn.returned = true;
    return &drawn;
  }

  // That in any time t no more are due than burst + rate t: a bucket that leaks does not run over.
  static bool is_kept(std::vector<grant> given) {
    std::ranges::sort(given, {}, &grant::due);
    nanoseconds level{};
    server_time last{};
    for (const auto& one : given) {
      level = std::max(nanoseconds{0}, level - (one.due - last)) + one.cost;
      last = one.due;
      if (level > all + inexact) return false;
    }
    return true;
  }

  void done(const std::string& request, const substrate::once_answer& answer,
            const std::string& after) override {
    const auto& what = wishes_.at(request);
    if (what.gives_back) return given_back(what, answer, after);
    const auto verdict = dialects::read_rate(key_, answer);
    if (const auto* const taken = std::get_if<dialects::rate_taken>(&verdict)) {
      given_.push_back({taken->due, what.cost});
      if (!is_kept(given_)) in().violated("R: more were given out than burst + rate t");
      if (taken->due > now() + what.longest) in().violated("R: due later than it wanted to wait");
    } else if (const auto* const later = std::get_if<dialects::rate_exceeded>(&verdict)) {
      if (after != before()) in().violated("R: who was sent away has taken something");
      if (later->wait <= what.longest) in().violated("R: somebody was sent away who would wait");
      if (!was_set_back() && !has_forgotten()) could_not_have(what);
    } else {
      in().violated("R: answered " + answer.word);
    }
  }

  // Had the client got them as late as it would have waited, it would have been too many.
  void could_not_have(const wish& what) {
    auto with_his = given_;
    with_his.push_back({now() + what.longest - 10us, what.cost});
    if (is_kept(with_his)) in().violated("R: a client was sent away that could have had its own");
  }

  // Copies of what was forgotten cannot be told apart from others with the same time.
  void given_back(const wish& what, const substrate::once_answer& answer,
                  const std::string& after) {
    const auto verdict = dialects::read_given_back(key_, answer);
    if (!std::holds_alternative<bool>(verdict)) in().violated("R: answered " + answer.word);
    const bool is_back = answer.word == "back";
    const auto mine = std::ranges::find_if(given_, [&](const auto& one) {
      return one.due == what.due && one.cost == what.cost && one.returned;
    });
    if (!is_back && after != before()) in().violated("R: what was kept has changed something");
    if (mine == given_.end()) {
      // A copy whose answer was evicted, executed anew: it gives out again what others have now
      // (docs/values.md).
      if (is_back && has_forgotten()) given_.clear();
      return;
    }
    const bool is_last =
        std::ranges::none_of(given_, [&](const auto& one) { return one.due > what.due; });
    const bool all_are_there = what.due + all <= now();
    if (is_back != is_last && !all_are_there && !was_set_back() && !has_forgotten()) {
      in().violated(is_back ? "R: given back from under who asked later"
                            : "R: not given back, although nobody has asked later");
    }
    if (is_back) given_.erase(mine);
  }

  const dialects::value_key key_{key_space{}, "rate", "mails"};
  std::map<std::string, wish, std::less<>> wishes_;
  std::vector<grant> given_;
};

}  // namespace

std::shared_ptr<change_watch> watch_rate_limiter(world& of) {
  return std::make_shared<rate_watch>(of);
}

}  // namespace holdfast::simulation::gates
