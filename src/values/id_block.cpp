#include "values/id_block.hpp"

#include <utility>

#include "redis/calls/idempotent_call.hpp"
#include "redis/locks/redis_engine.hpp"
#include "values/counted_change.hpp"

namespace holdfast::values {

id_block::id_block(std::shared_ptr<runtime::client_core> core, std::string_view name,
                   std::uint32_t size)
    : core_(std::move(core)),
      key_(redis_locks::engine_of(*core_).space(), "ids", name),
      name_(name),
      size_(size) {}

std::int64_t id_block::next() {
  core_->check_process();  // a forked child has the same block
  // Also for the mutex: those who wait behind a caller that gets no answer do not wait anew.
  const auto within = calls::usual_bound(*core_);
  const std::lock_guard lock(guard_);
  if (last_ == end_) fetch(within);
  return ++last_;
}

void id_block::fetch(const redis_locks::bound& within) {
  for (;;) {
    const auto [added, value] =
        change(*core_, key_, dialects::counter_add_from(key_, size_, end_), within);
    if (added) {
      last_ = value - size_;
      end_ = value;
      return;
    }
    // The server has lost ids that we gave out.
    change(*core_, key_, dialects::counter_compare_and_set(key_, value, end_), within);
  }
}

}  // namespace holdfast::values
