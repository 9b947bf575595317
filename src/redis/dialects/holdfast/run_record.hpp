// The record of a job's last run: `hf:run:{N}`.
#pragma once

#include <string_view>
#include <variant>

#include <holdfast/fencing_token.hpp>

#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

// Which runs exclude each other, as the user has said it.
struct run_rule {
  microseconds interval{};  // its length; 0: there are none
  microseconds offset{};    // since 1970, less than the interval
  microseconds at_least{};
  std::string_view again;  // `never`, `failed` or `lost`
};

// `asked` is when the caller looked first; the epoch: that is now.
once_call look_for_run(const value_key&, const run_rule&, server_time asked);
once_call begin_run(const value_key&, const run_rule&, fencing_token, server_time asked);
// `how`: `succeeded`, `failed` or `not_started`.
once_call end_run(const value_key&, const run_rule&, fencing_token, std::string_view how);

struct may_run {
  friend bool operator==(const may_run&, const may_run&) = default;
};
struct has_run {
  server_time began;
  std::string state;
  friend bool operator==(const has_run&, const has_run&) = default;
};
struct run_is_stale {  // somebody with a newer token has been there
  friend bool operator==(const run_is_stale&, const run_is_stale&) = default;
};
using run_verdict = std::variant<may_run, has_run, run_is_stale, refused>;

// may_run: also that the run is recorded, or its end.
run_verdict read_run(const value_key&, const once_answer&);

}  // namespace holdfast::dialects
