#include "redis/dialects/holdfast/answers.hpp"

#include <algorithm>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t longest_quote = 100;

}  // namespace

std::optional<milliseconds> read_ttl(const resp::value& v) noexcept {
  if (!v.is(resp::type::integer) || v.number < 0) return std::nullopt;
  return milliseconds(std::min<std::int64_t>(v.number, longest_ttl.count()));
}

std::optional<token_major> read_major(const resp::value& v) noexcept {
  token_major major = 0;
  if (v.is(resp::type::integer) && v.number >= 0) {
    major = static_cast<token_major>(v.number);
  } else if (v.is_text()) {
    const auto number = parse_number<token_major>(v.text);
    if (!number) return std::nullopt;
    major = *number;
  } else {
    return std::nullopt;
  }
  if (major > largest_major) return std::nullopt;
  return major;
}

std::optional<server_time> read_time(const resp::value& v) noexcept {
  // As majors: a number beyond them is no time that the scripts can compute with.
  if (!v.is(resp::type::integer)) return std::nullopt;
  const auto micros = read_major(v);
  if (!micros) return std::nullopt;
  return server_time(microseconds(static_cast<std::int64_t>(*micros)));
}

std::string_view leading_word(const resp::value& v) noexcept {
  if (!v.is(resp::type::array) || v.items.empty() || !v.items.front().is_text()) return {};
  return v.items.front().text;
}

std::optional<late> read_late(const resp::value& v) noexcept {
  if (leading_word(v) != "late" || v.items.size() != 2) return std::nullopt;
  const auto now = read_time(v.items[1]);
  if (!now) return std::nullopt;
  return late{*now};
}

std::optional<refused> read_not_ours(const resp::value& v, std::string_view key) {
  const std::string_view word = leading_word(v);
  const std::string shown = printable(key);
  if (word == "foreign" && v.items.size() == 1) {
    return refused{errc::foreign_key, false,
                   "the key " + shown +
                       " holds something else; choose another lock name, or see with 'holdfast "
                       "status' what it is"};
  }
  if (word == "layout" && v.items.size() == 2 && v.items[1].is_text()) {
    return refused{errc::layout_version, false,
                   "the key " + shown + " holds a lock of layout version " +
                       printable(v.items[1].text, longest_quote) +
                       ", and this Holdfast knows only version 1; upgrade it"};
  }
  return std::nullopt;
}

std::optional<refused> read_other_family(const resp::value& v) {
  if (leading_word(v) != "family" || v.items.size() != 2 || !v.items[1].is_text()) {
    return std::nullopt;
  }
  return refused{errc::foreign_key, false,
                 v.items[1].text == "s" ? "the name belongs to a semaphore"
                                        : "the name belongs to a lock with modes"};
}

refused refused_by_server(std::string_view error) {
  resp::server_error meaning = resp::classify(error);
  return {meaning.code, meaning.passing, std::move(meaning.detail), error.starts_with("TRYAGAIN")};
}

refused not_understood(std::string_view asked, const resp::value& v) {
  return {errc::server_error, false,
          "the server's answer to " + std::string{asked} +
              " cannot be understood: " + resp::to_string(v)};
}

refused unquoted_not_understood(std::string_view asked, const resp::value& v) {
  if (v.is(resp::type::error)) return refused_by_server(v.text);
  return {errc::server_error, false,
          "the server's answer to " + std::string{asked} + " cannot be understood"};
}

refused refused_or_not_understood(std::string_view asked, const resp::value& v) {
  return v.is(resp::type::error) ? refused_by_server(v.text) : not_understood(asked, v);
}

}  // namespace holdfast::dialects
