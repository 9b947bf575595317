// How the simulated server reads arguments and answers.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "simulation/server/keyspace.hpp"

namespace holdfast::simulation {

using resp::type;
using resp::value;

inline value number(std::int64_t n) {
  return {.kind = type::integer, .number = n, .text = {}, .items = {}};
}
inline value text_of(type kind, std::string_view text) {
  return {.kind = kind, .number = 0, .text = std::string(text), .items = {}};
}
inline value bulk(std::string_view text) { return text_of(type::bulk, text); }
inline value list(type kind = type::array) {
  return {.kind = kind, .number = 0, .text = {}, .items = {}};
}

inline value wrong_type() {
  return error("WRONGTYPE Operation against a key holding the wrong kind of value");
}

inline std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

inline std::optional<double> real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double n = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || std::isnan(n)) return std::nullopt;
  return n;
}

inline value not_an_integer() { return error("ERR value is not an integer or out of range"); }
inline value too_few() { return error("ERR wrong number of arguments"); }

}  // namespace holdfast::simulation
