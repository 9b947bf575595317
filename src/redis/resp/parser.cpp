#include "redis/resp/parser.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

namespace holdfast::resp {
namespace {

using outcome = parse_result::outcome;

// Walks over the bytes once, writing into values that may be in use already. Every function takes
// what it names from the front; on need_more and malformed the position has no meaning.
class reader {
 public:
  explicit reader(std::string_view bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  const char* position() const noexcept { return at_; }

  outcome take_value(value& out, std::size_t depth);

  outcome take_line(std::string_view& line) noexcept;
  outcome take_length(std::size_t most, bool may_be_null, std::optional<std::size_t>& length);

 private:
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  outcome take_number(std::int64_t& number) noexcept;
  outcome take_end_of_line() noexcept;

  outcome take_text(value& out, type kind);
  outcome take_boolean(value& out);
  outcome take_bulk(value& out, type kind);
  outcome take_verbatim(value& out);
  outcome take_items(value& out, type kind, std::size_t depth);
  outcome skip_attribute(std::size_t depth);

  const char* at_;
  const char* end_;
};

constexpr std::size_t shortest_value = 3;  // "_\r\n"

// Keeps the buffers of `out` for the next reply.
void become(value& out, type kind, std::int64_t number = 0) noexcept {
  out.kind = kind;
  out.number = number;
  out.text.clear();
  out.items.clear();
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_real(std::string_view text) noexcept {
  double ignored;  // Too large or too small is still a number: the text is what we keep.
  const auto [end, error] = std::from_chars(text.begin(), text.end(), ignored);
  return error != std::errc::invalid_argument && end == text.end();
}

bool is_big_number(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Numbers are strict, as the server's own string2ll: no '+', no leading zero, no "-0". The hot
// path: no search for the end of the line, and no overflow check within the loop, since 19 digits
// fit 64 bits unsigned.
outcome reader::take_number(std::int64_t& number) noexcept {
  const char* p = at_;
  const bool negative = p != end_ && *p == '-';
  if (negative) ++p;
  const char* const first = p;
  const char* const last = first + std::min<std::ptrdiff_t>(end_ - first, 19);
  std::uint64_t magnitude = 0;
  for (; p != last && is_digit(*p); ++p)
    magnitude = magnitude * 10 + static_cast<unsigned>(*p - '0');
  if (p == end_) return outcome::need_more;
  if (p == first || (*first == '0' && (negative || p - first > 1))) return outcome::malformed;
  const std::uint64_t largest = std::uint64_t{INT64_MAX} + (negative ? 1 : 0);
  if (magnitude > largest) return outcome::malformed;
  number = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  at_ = p;
  return take_end_of_line();
}

outcome reader::take_end_of_line() noexcept {
  if (left() > 0 && at_[0] != '\r') return outcome::malformed;
  if (left() < 2) return outcome::need_more;
  if (at_[1] != '\n') return outcome::malformed;
  at_ += 2;
  return outcome::complete;
}

outcome reader::take_line(std::string_view& line) noexcept {
  const std::size_t most = max_line + 2;
  const auto* newline = static_cast<const char*>(std::memchr(at_, '\n', std::min(left(), most)));
  if (newline == nullptr) return left() >= most ? outcome::malformed : outcome::need_more;
  line = {at_, newline};
  if (!line.ends_with('\r')) return outcome::malformed;
  line.remove_suffix(1);
  at_ = newline + 1;
  return line.find('\r') == line.npos ? outcome::complete : outcome::malformed;
}

// The length in a header; none for the null of RESP2 ("$-1", "*-1").
outcome reader::take_length(std::size_t most, bool may_be_null,
                            std::optional<std::size_t>& length) {
  std::int64_t number = 0;
  if (const outcome what = take_number(number); what != outcome::complete) return what;
  if (number < 0) return number == -1 && may_be_null ? outcome::complete : outcome::malformed;
  if (static_cast<std::size_t>(number) > most) return outcome::too_large;
  length = static_cast<std::size_t>(number);
  return outcome::complete;
}

outcome reader::take_text(value& out, type kind) {
  std::string_view line;
  if (const outcome what = take_line(line); what != outcome::complete) return what;
  if (kind == type::real && !is_real(line)) return outcome::malformed;
  if (kind == type::big_number && !is_big_number(line)) return outcome::malformed;
  become(out, kind);
  out.text.assign(line);
  return outcome::complete;
}

outcome reader::take_boolean(value& out) {
  if (left() == 0) return outcome::need_more;
  if (*at_ != 't' && *at_ != 'f') return outcome::malformed;
  become(out, type::boolean, *at_ == 't' ? 1 : 0);
  ++at_;
  return take_end_of_line();
}

outcome reader::take_bulk(value& out, type kind) {
  std::optional<std::size_t> length;
  const outcome what = take_length(max_value, kind == type::bulk, length);
  if (what != outcome::complete) return what;
  become(out, length ? kind : type::null);
  if (!length) return outcome::complete;
  if (left() < *length) return outcome::need_more;
  const std::string_view bytes{at_, *length};
  at_ += *length;
  if (const outcome end = take_end_of_line(); end != outcome::complete) return end;
  out.text.assign(bytes);
  return outcome::complete;
}

// "txt:" or "mkd:" and then the text itself.
outcome reader::take_verbatim(value& out) {
  const outcome what = take_bulk(out, type::verbatim);
  if (what != outcome::complete) return what;
  if (out.text.size() < 4 || out.text[3] != ':') return outcome::malformed;
  out.text.erase(0, 4);
  return outcome::complete;
}

// Grows with the bytes that have come, never with what the header says alone.
outcome reader::take_items(value& out, type kind, std::size_t depth) {
  const std::size_t each = kind == type::map ? 2 : 1;
  std::optional<std::size_t> length;
  const outcome what = take_length(max_items / each, kind == type::array, length);
  if (what != outcome::complete) return what;
  if (depth == max_depth) return outcome::malformed;
  out.kind = length ? kind : type::null;
  out.number = 0;
  out.text.clear();
  const std::size_t count = length.value_or(0) * each;
  out.items.reserve(std::min(count, left() / shortest_value));
  for (std::size_t i = 0; i < count; ++i) {
    if (i == out.items.size()) out.items.emplace_back();
    const outcome item = take_value(out.items[i], depth + 1);
    if (item != outcome::complete) return item;
  }
  out.items.resize(count);
  return outcome::complete;
}

outcome reader::skip_attribute(std::size_t depth) {
  value ignored;
  return take_items(ignored, type::map, depth);
}

outcome reader::take_value(value& out, std::size_t depth) {
  while (at_ != end_) {
    switch (*at_++) {
      case ':': {
        std::int64_t number = 0;
        const outcome what = take_number(number);
        become(out, type::integer, number);
        return what;
      }
      case '$':
        return take_bulk(out, type::bulk);
      case '+':
        return take_text(out, type::simple);
      case '*':
        return take_items(out, type::array, depth);
      case '-':
        return take_text(out, type::error);
      case '_':
        become(out, type::null);
        return take_end_of_line();
      case '#':
        return take_boolean(out);
      case ',':
        return take_text(out, type::real);
      case '(':
        return take_text(out, type::big_number);
      case '!':
        return take_bulk(out, type::error);
      case '=':
        return take_verbatim(out);
      case '%':
        return take_items(out, type::map, depth);
      case '~':
        return take_items(out, type::set, depth);
      case '>':
        return take_items(out, type::push, depth);
      case '|':
        if (const outcome what = skip_attribute(depth); what != outcome::complete) return what;
        break;  // The value that it describes follows.
      default:
        return outcome::malformed;
    }
  }
  return outcome::need_more;
}

}  // namespace

parse_result parse(std::string_view bytes, value& out) {
  reader in{bytes};
  const outcome what = in.take_value(out, 0);
  if (what != outcome::complete) return {what};
  return {what, static_cast<std::size_t>(in.position() - bytes.data())};
}

outcome arrival::look(std::string_view bytes) {
  for (;;) {
    if (at_ > bytes.size()) break;  // within a bulk string
    while (left_[depth_] == 0) {
      if (depth_ == 0) return outcome::complete;
      --depth_;
    }
    if (at_ == bytes.size()) break;
    const auto what = look_at_next(bytes.substr(at_));
    if (what == outcome::need_more) {
      missing_ = 1;
      return what;
    }
    if (what != outcome::complete) return what;
    if (at_ + values_ * sizeof(value) > max_value) return outcome::too_large;
  }
  missing_ = std::max<std::size_t>(at_ - bytes.size(), 1);
  return outcome::need_more;
}

// At the value, or the attribute of one, with which `bytes` begin. parse() judges the bytes behind
// its header.
outcome arrival::look_at_next(std::string_view bytes) {
  const char kind = bytes.front();
  const bool is_map = kind == '%' || kind == '|';
  const bool is_list = is_map || kind == '*' || kind == '~' || kind == '>';
  const bool is_bulk = kind == '$' || kind == '!' || kind == '=';
  reader in{bytes.substr(1)};
  if (!is_list && !is_bulk) {
    std::string_view line;
    if (const auto what = in.take_line(line); what != outcome::complete) return what;
    --left_[depth_];
    at_ += static_cast<std::size_t>(in.position() - bytes.data());
    return outcome::complete;
  }
  std::optional<std::size_t> length;
  const auto most = is_bulk ? max_value : is_map ? max_items / 2 : max_items;
  const auto what = in.take_length(most, kind == '$' || kind == '*', length);
  if (what != outcome::complete) return what;
  at_ += static_cast<std::size_t>(in.position() - bytes.data());
  if (kind != '|') --left_[depth_];
  if (is_bulk && length) at_ += *length + 2;
  return is_list ? announce(length.value_or(0) * (is_map ? 2 : 1)) : outcome::complete;
}

outcome arrival::announce(std::size_t items) {
  if (depth_ == max_depth) return outcome::malformed;
  values_ += items;
  left_[++depth_] = items;
  return outcome::complete;
}

}  // namespace holdfast::resp
