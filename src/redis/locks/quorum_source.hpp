// A lock of a quorum, as this process sees it.
#pragma once

#include <memory>
#include <utility>

#include "redis/locks/quorum_spec.hpp"
#include "redis/locks/words.hpp"
#include "runtime/blocking_holders.hpp"

namespace holdfast::redis_locks {

// Each thread asks the members for itself: the first there is the first here. Thread safety: all
// members from any thread.
class quorum_source final : public lock_source {
 public:
  quorum_source(std::shared_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec)
      : handle_(std::move(handle)), spec_(std::move(spec)) {}

  const std::string& name() const noexcept override { return spec_->key->name(); }
  lock_kind kind() const noexcept override { return lock_kind::mutex; }
  acquired wait(leasing::patience patience, std::stop_token stop) override;
  std::unique_ptr<acquisition> ask() override;

 private:
  void check_wait();

  const std::shared_ptr<quorum_handle> handle_;
  const std::shared_ptr<const quorum_spec> spec_;
  runtime::blocking_holders holders_;
};

}  // namespace holdfast::redis_locks
