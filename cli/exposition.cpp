#include "cli/exposition.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

std::string escaped(std::string_view value) {
  std::string text;
  for (const char c : as_utf8(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text;
}

}  // namespace

void exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void exposition::begin_sample(const labels& of) {
  text_ += family_;
  const char* before = "{";
  for (const auto& [name, value] : of) {
    fmt::format_to(std::back_inserter(text_), "{}{}=\"{}\"", before, name, escaped(value));
    before = ",";
  }
  text_ += of.empty() ? " " : "} ";
}

void exposition::sample(const labels& of, double value) {
  begin_sample(of);
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

void exposition::sample(const labels& of, std::uint64_t value) {
  begin_sample(of);
  fmt::format_to(std::back_inserter(text_), "{}\n", value);
}

}  // namespace holdfast::cli
