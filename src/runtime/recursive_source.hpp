// A lock that its owner may acquire again while it holds it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/identity.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_source.hpp"

namespace holdfast::runtime {

// Thread safety: all members from any thread.
class recursive_source final : public lock_source {
 public:
  // `who`: 0 is the thread that blocks. A call that does not block has no thread: it is an owner of
  // its own then.
  recursive_source(std::shared_ptr<local_lock> local, identity who)
      : local_(std::move(local)), who_(who) {}

  const std::string& name() const noexcept override { return local_->name(); }
  lock_kind kind() const noexcept override { return local_->kind(); }
  const std::shared_ptr<local_lock>& local() const noexcept { return local_; }

  acquired wait(leasing::patience patience, std::stop_token stop) override;
  std::unique_ptr<acquisition> ask() override;

 private:
  const std::shared_ptr<local_lock> local_;
  const identity who_;
};

// How often this owner has acquired the lock that it holds.
std::size_t hold_count(local_lock& local, identity who);

}  // namespace holdfast::runtime
