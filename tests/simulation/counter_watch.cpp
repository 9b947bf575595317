// A counter that is changed in every way that there is, near both ends of its 64 bits too.
#include <limits>
#include <map>
#include <string>

#include "base/number.hpp"
#include "redis/dialects/holdfast/counter.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/value_watches.hpp"

namespace holdfast::simulation::gates {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t updates_up_to = 1000;
constexpr std::int64_t exact_below = std::int64_t{1} << 53;

class counter_watch final : public change_watch {
 public:
  using change_watch::change_watch;

  bool lasts(std::string_view key) const override { return key == key_.key; }
  std::vector<resp::script> scripts() const override { return {update_.script()}; }

  dialects::once_call draw(const std::string& request) override {
    auto& dice = in().chance();
    const auto how = static_cast<way>(dice.up_to(5));
    const auto small = [&] { return static_cast<std::int64_t>(dice.up_to(10)) - 5; };
    change what{.how = how, .number = small(), .bound = small()};
    if (how == way::subtract) what.number = std::abs(what.number);
    if (how == way::compare_and_set && dice.chance(70)) what.bound = present();
    const bool sets = how == way::set || how == way::compare_and_set;
    if (sets && dice.chance(20)) {
      const auto away = static_cast<std::int64_t>(dice.up_to(3));
      what.number = dice.chance(50) ? most - away : least + away;
    }
    changes_[request] = what;
    return call_of(what);
  }

 private:
  enum class way : std::uint8_t { add, add_from, subtract, set, compare_and_set, update };
  struct change {
    way how{};
    std::int64_t number = 0, bound = 0;
  };

  std::string look() override { return text_at(key_.key); }
  std::int64_t present() const { return number_in(text_at(key_.key)); }
  static std::int64_t number_in(const std::string& text) {
    return text.empty() ? 0 : parse_number<std::int64_t>(text).value_or(0);
  }

  dialects::once_call call_of(const change& what) const {
    switch (what.how) {
      case way::add:
        return dialects::counter_add(key_, what.number);
      case way::add_from:
        return dialects::counter_add_from(key_, what.number, what.bound);
      case way::subtract:
        return dialects::counter_subtract(key_, what.number, what.bound);
      case way::set:
        return dialects::counter_set(key_, what.number);
      case way::compare_and_set:
        return dialects::counter_compare_and_set(key_, what.bound, what.number);
      case way::update:
        break;
    }
    return dialects::counter_update(key_, update_, {std::to_string(what.number)});
  }

  struct expectation {
    std::string_view word;
    std::int64_t number = 0;  // of the counter then
  };

  static expectation sum(std::int64_t held, std::int64_t by) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(held, by, &sum)) return {"overflow", held};
    return {"ok", sum};
  }

  static expectation after(const change& what, std::int64_t held) {
    const expectation unmet{"no", held};
    switch (what.how) {
      case way::add:
        return sum(held, what.number);
      case way::add_from:
        return held < what.bound ? unmet : sum(held, what.number);
      case way::subtract:  // their sum is small
        return held < what.bound + what.number ? unmet : sum(held, -what.number);
      case way::set:
        return {"ok", what.number};
      case way::compare_and_set:
        return held != what.bound ? unmet : expectation{"ok", what.number};
      case way::update:
        break;
    }
    if (held <= -exact_below || held >= exact_below) return {"failed", held};
    const bool updates = -updates_up_to <= held && held <= updates_up_to;
    return updates ? sum(held, what.number) : expectation{"ok", held};
  }

  void done(const std::string& request, const substrate::once_answer& answer,
            const std::string& now) override {
    const auto wanted = after(changes_.at(request), number_in(before()));
    const auto text = std::to_string(wanted.number);
    if (now != (wanted.number == 0 ? "" : text)) {
      in().violated("C: the counter became " + now + " instead of " + text);
    }
    const bool tells = wanted.word == "failed"
                           ? answer.rest.starts_with("the counter is " + text + ",")
                           : answer.rest == text;
    if (answer.word != wanted.word || !tells) {
      in().violated("C: answered " + answer.word + " " + answer.rest + " instead of " + text);
    }
  }

  const dialects::value_key key_{key_space{}, "counter", "stock"};
  const dialects::composed_script update_ =
      dialects::update_script("if math.abs(value) > " + std::to_string(updates_up_to) +
                              " then return nil end "
                              "return value + ARGV[1]");
  std::map<std::string, change, std::less<>> changes_;
};

}  // namespace

std::shared_ptr<change_watch> watch_counter(world& of) {
  return std::make_shared<counter_watch>(of);
}

}  // namespace holdfast::simulation::gates
