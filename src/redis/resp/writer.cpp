#include "redis/resp/writer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstring>

#include "redis/resp/loaded_scripts.hpp"

namespace holdfast::resp {
namespace {

// Writes "*12\r\n" or "$12\r\n" to `to`, which has room for it; returns its end.
char* put_header(char* to, char sign, std::size_t number) {
  *to++ = sign;
  if (number < 100) {  // nearly always
    if (number >= 10) *to++ = static_cast<char>('0' + number / 10);
    *to++ = static_cast<char>('0' + number % 10);
  } else {
    to = std::to_chars(to, to + 20, number).ptr;
  }
  *to++ = '\r';
  *to++ = '\n';
  return to;
}

constexpr std::size_t longest_header = 1 + 20 + 2;

}  // namespace

void writer::command(std::size_t words) {
  assert(words > 0 && finished() && "the command before lacks arguments");
  std::array<char, longest_header> text;
  out_.append(text.data(), put_header(text.data(), '*', words));
  missing_ = words;
}

void writer::call(const script& what, std::size_t keys, std::size_t args) {
  command(3 + keys + args);
  const script& s = loaded_ == nullptr ? what : loaded_->form(what);
  const bool by_sha1 = how_ == scripts::by_sha1 && (loaded_ == nullptr || loaded_->has(s));
  if (loaded_ != nullptr && !by_sha1) loaded_->sends_text(s, how_ == scripts::by_text);
  if (by_sha1 && s.sha1.size() == 40) {
    // The usual case in one append.
    constexpr std::string_view before = "$7\r\nEVALSHA\r\n$40\r\n";
    std::array<char, before.size() + 40 + 2> text;
    std::memcpy(text.data(), before.data(), before.size());
    std::memcpy(text.data() + before.size(), s.sha1.data(), 40);
    std::memcpy(text.data() + before.size() + 40, "\r\n", 2);
    out_.append(text.data(), text.size());
    missing_ -= 2;
  } else {
    arg(by_sha1 ? "EVALSHA" : "EVAL");
    arg(by_sha1 ? s.sha1 : s.text);
  }
  arg(static_cast<std::int64_t>(keys));
}

void writer::arg(std::string_view bytes) { arg({bytes}); }

void writer::arg(std::initializer_list<std::string_view> parts) {
  assert(!finished() && "more arguments than announced");
  --missing_;
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  // Most arguments are short, and one append is cheaper than several.
  constexpr std::size_t is_short = 128;
  std::array<char, longest_header + is_short + 2> text;
  char* end = put_header(text.data(), '$', size);
  if (size > is_short) {
    out_.append(text.data(), end);
    for (const std::string_view part : parts) out_.append(part);
    out_.append("\r\n", 2);
    return;
  }
  for (const std::string_view part : parts) end = std::copy(part.begin(), part.end(), end);
  *end++ = '\r';
  *end++ = '\n';
  out_.append(text.data(), end);
}

void writer::arg(std::int64_t number) {
  std::array<char, 20> text;
  const char* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  arg(std::string_view{text.data(), end});
}

}  // namespace holdfast::resp
