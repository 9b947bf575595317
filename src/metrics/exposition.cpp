#include "metrics/exposition.hpp"

#include <cstddef>

namespace holdfast::metering {
namespace {

std::string seconds(microseconds time) {
  constexpr std::int64_t in_one = 1'000'000;
  const auto part = std::to_string(time.count() % in_one);
  return std::to_string(time.count() / in_one) + "." + std::string(6 - part.size(), '0') + part;
}

void append_escaped(std::string& to, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      to += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') to += '\\';
    to += c;
  }
}

}  // namespace

void exposition::begin(std::string_view family, std::string_view type, std::string_view help) {
  family_ = family;
  text_.append("# HELP ").append(family).append(" ").append(help).append("\n");
  text_.append("# TYPE ").append(family).append(" ").append(type).append("\n");
}

void exposition::line(std::string_view suffix, labels of, std::string_view at_most,
                      std::string_view value) {
  text_.append(family_).append(suffix);
  char before = '{';
  const auto add = [&](const label& one) {
    if (one.value.empty()) return;
    text_.append(1, before).append(one.name).append("=\"");
    append_escaped(text_, one.value);
    text_ += '"';
    before = ',';
  };
  for (const auto& one : of) add(one);
  add({"le", at_most});
  if (before == ',') text_ += '}';
  text_.append(" ").append(value).append("\n");
}

void exposition::sample(labels of, std::int64_t value) { line("", of, {}, std::to_string(value)); }

// The buckets add up, so that the last one is the count, whatever is counted meanwhile.
void exposition::sample(labels of, const histogram& times) {
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i <= buckets.size(); ++i) {
    so_far += times.in(i);
    line("_bucket", of, i < buckets.size() ? buckets[i].seconds : "+Inf", std::to_string(so_far));
  }
  line("_sum", of, {}, seconds(times.sum()));
  line("_count", of, {}, std::to_string(so_far));
}

}  // namespace holdfast::metering
