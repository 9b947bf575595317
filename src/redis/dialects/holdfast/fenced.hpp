// Writes that refuse a token older than the last one accepted. That one is kept at
// `fenced:{T}:<key>` in the key space, where T has the key's hash slot.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/fencing_token.hpp>

#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

composed_script fenced_script(std::string_view body);

// All keys are of one hash slot, and there is at least one. The token is real.
once_call fenced_write(const key_space&, const composed_script&,
                       const std::vector<std::string>& keys, const std::vector<std::string>& args,
                       fencing_token);

struct fence_passed {
  std::optional<std::string> value;  // the result of the script
  friend bool operator==(const fence_passed&, const fence_passed&) = default;
};
struct fence_stale {
  fencing_token last;
  friend bool operator==(const fence_stale&, const fence_stale&) = default;
};
std::variant<fence_passed, fence_stale, refused> read_fenced(const once_answer&);

}  // namespace holdfast::dialects
