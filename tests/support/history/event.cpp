#include "support/history/event.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace holdfast::history {

namespace {

// In the order of `kind`.
constexpr std::array names{"called",    "won",      "failed",  "unclear",  "held",    "believed",
                           "ended",     "lost",     "saw",     "changing", "changed", "unchanged",
                           "releasing", "released", "written", "refused",  "total",   "granted",
                           "freed",     "killed",   "frozen",  "thawed",   "broken",  "emptied",
                           "healed",    "left"};

std::string one_word(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c <= ' ' || c > '~'; }, '_');
  return text;
}

template <typename Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("not a number: " + std::string(text));
  }
  return value;
}

kind kind_named(std::string_view text) {
  const auto* const found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw std::invalid_argument("no kind of event: " + std::string(text));
  return static_cast<kind>(found - names.begin());
}

support::mode mode(std::string_view text) {
  const auto found = support::mode_named(text);
  if (!found) throw std::invalid_argument("no mode: " + std::string(text));
  return *found;
}

void set(event& one, std::string_view field, std::string_view value) {
  if (field == "process")
    one.process = number<std::int64_t>(value);
  else if (field == "operation")
    one.operation = number<std::uint64_t>(value);
  else if (field == "lock")
    one.lock = value;
  else if (field == "token")
    one.token = number<std::uint64_t>(value);
  else if (field == "until")
    one.until = nanoseconds(number<std::int64_t>(value));
  else if (field == "lease")
    one.lease = milliseconds(number<std::int64_t>(value));
  else if (field == "value")
    one.value = number<std::uint64_t>(value);
  else if (field == "part")
    one.part = number<std::uint32_t>(value);
  else if (field == "whole")
    one.whole = number<std::uint32_t>(value);
  else if (field == "mode")
    one.mode = mode(value);
  else if (field == "note")
    one.note = value;
  else
    throw std::invalid_argument("no field of an event: " + std::string(field));
}

std::string_view next_word(std::string_view& rest) {
  const auto end = std::min(rest.find(' '), rest.size());
  const auto word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

}  // namespace

std::string to_line(const event& one) {
  std::string line = std::to_string(one.time.count()) + " " + names.at(std::size_t(one.what));
  const auto add = [&line](const char* field, const std::string& value) {
    if (!value.empty() && value != "0") line.append(" ").append(field).append("=").append(value);
  };
  add("process", std::to_string(one.process));
  add("operation", std::to_string(one.operation));
  add("lock", one_word(one.lock));
  add("token", std::to_string(one.token));
  add("until", std::to_string(one.until.count()));
  add("lease", std::to_string(one.lease.count()));
  add("value", std::to_string(one.value));
  add("part", std::to_string(one.part));
  add("whole", std::to_string(one.whole));
  add("mode", one.mode ? support::name_of(*one.mode) : "");
  add("note", one_word(one.note));
  return line;
}

event parse(std::string_view line) try {
  auto rest = line;
  event one;
  one.time = nanoseconds(number<std::int64_t>(next_word(rest)));
  one.what = kind_named(next_word(rest));
  while (!rest.empty()) {
    const auto word = next_word(rest);
    const auto equals = word.find('=');
    if (equals == word.npos) throw std::invalid_argument("no value: " + std::string(word));
    set(one, word.substr(0, equals), word.substr(equals + 1));
  }
  return one;
} catch (const std::invalid_argument& wrong) {
  throw std::invalid_argument(std::string(wrong.what()) + " in \"" + std::string(line) + "\"");
}

std::vector<event> read_merged(const std::vector<std::string>& paths) {
  std::vector<event> all;
  for (const auto& path : paths) {
    std::ifstream file(path);
    if (!file) throw std::invalid_argument("cannot read " + path);
    for (std::string line; std::getline(file, line);) all.push_back(parse(line));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const event& a, const event& b) { return a.time < b.time; });
  return all;
}

}  // namespace holdfast::history
