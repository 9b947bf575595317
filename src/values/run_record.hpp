// The server's record of a job's last run.
#pragma once

#include <memory>
#include <string_view>

#include <holdfast/once_per.hpp>
#include <holdfast/result.hpp>

#include "base/time.hpp"
#include "redis/dialects/holdfast/run_record.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// Thread safety: immutable.
class run_record {
 public:
  // Throws failure: `invalid_name`, `invalid_argument`, and `unsupported` in memory.
  run_record(std::shared_ptr<runtime::client_core> core, std::string_view name,
             const once_per_options& options);

  // The server's time, if the job may run; `has_run` otherwise. `asked`: when the caller looked
  // first, unless this is the first time.
  result<server_time> look(const redis_locks::bound& within, server_time asked = {}) const;

  // Records that a run begins now, for a caller who asked then and has the job's lock with this
  // token: `has_run`, or `lost` when a later holder has been there.
  result<void> begin(fencing_token token, server_time asked,
                     const redis_locks::bound& within) const;

  // How the run with this token ended: `lost` when another has begun since. A stop does
  // not interrupt this.
  result<void> end(fencing_token token, run_end how) const;

 private:
  result<server_time> ask(const dialects::once_call& what, const redis_locks::bound& within) const;

  const std::shared_ptr<runtime::client_core> core_;
  const std::string name_;
  const dialects::value_key key_;
  const dialects::run_rule rule_;
};

}  // namespace holdfast::values
