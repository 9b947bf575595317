// Ids of a machine number, which are made from a server's time without asking anybody.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <holdfast/fencing_token.hpp>

#include "runtime/client_core.hpp"
#include "values/snowflake.hpp"

namespace holdfast::values {

// Thread safety: all functions.
class machine_ids {
 public:
  // `granted`: the token with which the machine number became ours; `slot`: whose server granted
  // it. Throws failure when that does not tell its time.
  machine_ids(std::shared_ptr<runtime::client_core> core, std::uint32_t machine, std::uint16_t slot,
              fencing_token granted);

  // The caller sees to it that the number is still ours, after this.
  std::int64_t next();

 private:
  server_time estimate() const;
  server_time now() const;
  void wait() const;

  const std::shared_ptr<runtime::client_core> core_;
  const std::uint16_t slot_;
  std::mutex guard_;
  snowflake ids_;  // guarded by guard_
};

}  // namespace holdfast::values
