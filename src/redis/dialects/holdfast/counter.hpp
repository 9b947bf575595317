// Counters: `hf:counter:{N}`, a 64-bit number as the server's INCRBY knows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

once_call counter_add(const value_key&, std::int64_t n);
once_call counter_add_from(const value_key&, std::int64_t n, std::int64_t least);  // unless below
once_call counter_subtract(const value_key&, std::int64_t n, std::int64_t not_below);  // n >= 0
once_call counter_set(const value_key&, std::int64_t value);
once_call counter_compare_and_set(const value_key&, std::int64_t expected, std::int64_t desired);
composed_script update_script(std::string_view body);
once_call counter_update(const value_key&, const composed_script&,
                         const std::vector<std::string>& args);

struct counted {
  bool changed = false;  // false: the condition did not hold
  std::int64_t value = 0;
  friend bool operator==(const counted&, const counted&) = default;
};
std::variant<counted, refused> read_counted(const value_key&, const once_answer&);

void write_counter_query(const value_key&, resp::writer&);
std::variant<std::int64_t, refused> read_counter(const value_key&, const resp::value&);

}  // namespace holdfast::dialects
