// Counters: `hf:counter:{N}`, a 64-bit number as the server's INCRBY knows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dialects/holdfast/once.hpp"

namespace holdfast::dialects {

struct counter_key {
  // Throws failure{errc::invalid_name} as lock_key does. `kind`: "counter", "ids".
  counter_key(std::string_view kind, std::string_view name);

  std::string key;
  std::uint16_t slot;
};

once_call counter_add(const counter_key&, std::int64_t n);
once_call counter_subtract(const counter_key&, std::int64_t n, std::int64_t not_below);  // n >= 0
once_call counter_set(const counter_key&, std::int64_t value);
once_call counter_compare_and_set(const counter_key&, std::int64_t expected, std::int64_t desired);
composed_script update_script(std::string_view body);
once_call counter_update(const counter_key&, const composed_script&,
                         const std::vector<std::string>& args);

struct counted {
  bool changed = false;  // false: the condition did not hold
  std::int64_t value = 0;
  friend bool operator==(const counted&, const counted&) = default;
};
std::variant<counted, refused> read_counted(const counter_key&, const once_answer&);

void write_counter_query(const counter_key&, resp::writer&);
std::variant<std::int64_t, refused> read_counter(const counter_key&, const resp::value&);

}  // namespace holdfast::dialects
