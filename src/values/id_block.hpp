// Ids of a counter on the server, fetched a block at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "redis/dialects/holdfast/counter.hpp"
#include "redis/locks/blocking_request.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::values {

// Thread safety: all functions.
class id_block {
 public:
  id_block(std::shared_ptr<runtime::client_core> core, std::string_view name, std::uint32_t size);

  const std::string& name() const noexcept { return name_; }

  // See id_generator::next.
  std::int64_t next();

 private:
  void fetch(const redis_locks::bound& within);

  const std::shared_ptr<runtime::client_core> core_;
  const dialects::value_key key_;
  const std::string name_;
  const std::int64_t size_;
  std::mutex guard_;
  std::int64_t last_ = 0;  // given out
  std::int64_t end_ = 0;   // of the block
};

}  // namespace holdfast::values
