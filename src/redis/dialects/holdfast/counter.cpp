#include "redis/dialects/holdfast/counter.hpp"

#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

once_call change(const value_key& counter, std::string_view how, std::int64_t number,
                 std::string_view condition, std::string bound) {
  return {scripts::holdfast_counter,
          counter.slot,
          {counter.key},
          {std::string{how}, std::to_string(number), std::string{condition}, std::move(bound)}};
}

}  // namespace

once_call counter_add(const value_key& counter, std::int64_t n) {
  return change(counter, "add", n, "always", {});
}

once_call counter_add_from(const value_key& counter, std::int64_t n, std::int64_t least) {
  return change(counter, "add", n, "least", std::to_string(least));
}

once_call counter_subtract(const value_key& counter, std::int64_t n, std::int64_t not_below) {
  // The sum of two numbers that are not negative fits 64 bits without a sign.
  const auto least =
      not_below < 0
          ? std::to_string(not_below + n)
          : std::to_string(static_cast<std::uint64_t>(not_below) + static_cast<std::uint64_t>(n));
  return change(counter, "add", -n, "least", least);
}

once_call counter_set(const value_key& counter, std::int64_t value) {
  return change(counter, "set", value, "always", {});
}

once_call counter_compare_and_set(const value_key& counter, std::int64_t expected,
                                  std::int64_t desired) {
  return change(counter, "set", desired, "is", std::to_string(expected));
}

composed_script update_script(std::string_view body) {
  return {scripts::holdfast_update_counter, body};
}

once_call counter_update(const value_key& counter, const composed_script& update,
                         const std::vector<std::string>& args) {
  return {update.script(), counter.slot, {counter.key}, args};
}

std::variant<counted, refused> read_counted(const value_key& counter, const once_answer& answer) {
  if (answer.word == "foreign") return not_a(counter, "counter");
  if (answer.word == "failed") {
    return refused{errc::server_error, false, "the update failed: " + printable(answer.rest, 200)};
  }
  const auto value = parse_number<std::int64_t>(answer.rest);
  if (value && answer.word == "ok") return counted{true, *value};
  if (value && answer.word == "no") return counted{false, *value};
  if (value && answer.word == "overflow") {
    return refused{errc::invalid_argument, false,
                   "the counter is " + answer.rest +
                       " and the result would not fit 64 bits; it was left as it is"};
  }
  return unknown_answer(answer);
}

void write_counter_query(const value_key& counter, resp::writer& out) {
  out.command(2);
  out.arg("GET");
  out.arg(counter.key);
}

std::variant<std::int64_t, refused> read_counter(const value_key& counter, const resp::value& v) {
  if (v.is(resp::type::null)) return std::int64_t{0};
  if (!v.is_text()) return refused_or_not_understood("GET", v);
  const auto number = parse_number<std::int64_t>(v.text);
  // As the scripts see it, which refuse "01" and "-0".
  if (number && std::to_string(*number) == v.text) return *number;
  return not_a(counter, "counter");
}

}  // namespace holdfast::dialects
