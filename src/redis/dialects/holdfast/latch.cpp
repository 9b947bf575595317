#include "redis/dialects/holdfast/latch.hpp"

#include <optional>
#include <string>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/waiting.hpp"

namespace holdfast::dialects {
namespace {

once_call change(const lock_key& key, std::string_view how, std::uint32_t number) {
  const auto latch = key.value_key();
  return {scripts::holdfast_latch_change,
          key.slot(),
          {latch, latch + ":w", latch + ":i", latch + ":o"},
          {std::string{how}, std::to_string(number)}};
}

}  // namespace

void latch_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                 resp::writer& out) const {
  out.call(scripts::holdfast_latch_wait, 4, wanted.waits ? 5 : 2);
  for (const auto* end : {"", ":w", ":i", ":o"}) write_key(*wanted.key, end, out);
  out.arg(wanted.owner.text());
  out.arg(static_cast<std::int64_t>(not_after.time_since_epoch().count()));
  if (!wanted.waits) return;
  out.arg(place_suffix{queue_family(), wanted}.text());
  out.arg(static_cast<std::int64_t>(wanted.ticket));
  out.arg(static_cast<std::int64_t>(wanted.queue_limit));
}

void latch_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  out.call(scripts::holdfast_latch_leave, 2, 1);
  write_key(*wanted.key, ":w", out);
  write_key(*wanted.key, ":i", out);
  out.arg(std::string{wanted.owner.text()}.append(place_suffix{queue_family(), wanted}.text()));
}

once_call latch_set(const lock_key& key, std::uint32_t count) { return change(key, "set", count); }

once_call latch_count_down(const lock_key& key, std::uint32_t by) {
  return change(key, "down", by);
}

std::variant<latch_change, refused> read_latch_change(const lock_key& key,
                                                      const once_answer& answer) {
  if (answer.word == "foreign") return not_a_gate(key);
  const auto number = parse_number<std::uint32_t>(answer.rest);
  if (number && answer.word == "ok") return latch_change{true, *number, false};
  if (number && answer.word == "no") return latch_change{false, *number, false};
  if (number && answer.word == "opened") return latch_change{true, 0, *number != 0};
  return refused{
      errc::server_error, false,
      "the server's answer to a latch's script cannot be understood: " + printable(answer.word)};
}

void write_latch_query(const lock_key& key, resp::writer& out) {
  out.command(2);
  out.arg("GET");
  out.arg(key.value_key());
}

std::variant<std::uint32_t, refused> read_latch(const lock_key& key, const resp::value& v) {
  if (v.is(resp::type::null)) return 0U;
  if (!v.is_text()) return refused_or_not_understood("GET", v);
  if (v.text.starts_with("1l:")) {
    if (const auto left = parse_number<std::uint32_t>(std::string_view{v.text}.substr(3)))
      return *left;
  }
  return not_a_gate(key);
}

}  // namespace holdfast::dialects
