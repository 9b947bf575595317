// A lock of a quorum, as this process sees it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "runtime/lock_source.hpp"
#include "runtime/quorum_spec.hpp"

namespace holdfast::runtime {

// Its threads ask the members each for itself: who is first there is first here.
// Thread safety: all members from any thread.
class quorum_source final : public lock_source {
 public:
  quorum_source(std::shared_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec)
      : handle_(std::move(handle)), spec_(std::move(spec)) {}

  const std::string& name() const noexcept override { return spec_->key->name(); }
  acquired wait(leasing::patience patience, std::stop_token stop) override
      HOLDFAST_EXCLUDES(mutex_);
  std::unique_ptr<acquisition> ask() override;

 private:
  void check_wait() HOLDFAST_EXCLUDES(mutex_);

  const std::shared_ptr<quorum_handle> handle_;
  const std::shared_ptr<const quorum_spec> spec_;
  mutex mutex_;
  // What threads have acquired here, blocking.
  std::vector<std::pair<identity, std::weak_ptr<holding>>> holders_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::runtime
