// One call that wants a local lock, from asking to having it or not.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "runtime/local_lock.hpp"
#include "runtime/lock_source.hpp"

namespace holdfast::runtime {

// Thread safety: one thread at a time.
class local_acquisition final : public acquisition {
 public:
  explicit local_acquisition(std::shared_ptr<local_lock> of) : local_(std::move(of)) {}

  // The listener may also be a thread: it is told when look() is worth it.
  bool begin(leasing::patience patience, std::stop_token stop, const listener& who) override;

  // How it has ended. Nothing: it has not; a thread sleeps on.
  std::optional<acquired> look();
  // Otherwise another thread of this process does, or has it.
  bool asks_server() const noexcept { return asks_ != nullptr; }
  bool has_answer() const { return ended_ || (asks_ && asks_->has_answer()); }
  // After begin() has ended it.
  bool has_grant() const noexcept { return ended_ && std::holds_alternative<grant>(*ended_); }
  acquired finish() override { return *look(); }

  // The waiting thread sleeps on this.
  net::waiter& sleeper() noexcept { return *sleeper_; }

  void abandon() override;

 private:
  std::shared_ptr<local_lock> local_;
  std::shared_ptr<lock_driver> asks_;
  std::shared_ptr<local_waiter> waits_;
  std::optional<acquired> ended_;
  net::waiter* sleeper_ = nullptr;
  identity thread_ = 0;  // the thread that blocks; 0: none
};

}  // namespace holdfast::runtime
