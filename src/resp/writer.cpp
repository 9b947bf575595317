#include "resp/writer.hpp"

#include <array>
#include <cassert>
#include <charconv>

namespace holdfast::resp {
namespace {

// "*12\r\n" and "$12\r\n".
void append_header(std::string& out, char sign, std::size_t number) {
  std::array<char, 24> text;
  text[0] = sign;
  char* end = std::to_chars(&text[1], text.data() + text.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(text.data(), end);
}

}  // namespace

void writer::command(std::size_t words) {
  assert(words > 0 && finished() && "the command before lacks arguments");
  append_header(out_, '*', words);
  missing_ = words;
}

void writer::call(const script& s, std::size_t keys, std::size_t args) {
  command(3 + keys + args);
  if (how_ == scripts::by_sha1) {
    arg("EVALSHA");
    arg(s.sha1);
  } else {
    arg("EVAL");
    arg(s.text);
  }
  arg(static_cast<std::int64_t>(keys));
}

void writer::arg(std::string_view bytes) {
  assert(!finished() && "more arguments than announced");
  --missing_;
  append_header(out_, '$', bytes.size());
  out_.append(bytes);
  out_.append("\r\n", 2);
}

void writer::arg(std::int64_t number) {
  std::array<char, 20> text;
  const char* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  arg(std::string_view{text.data(), end});
}

}  // namespace holdfast::resp
