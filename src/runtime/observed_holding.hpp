// A lease of which an observer hears how it ends.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>

#include <holdfast/observer.hpp>

#include "base/time.hpp"
#include "runtime/engine.hpp"
#include "runtime/holding.hpp"
#include "runtime/reporter.hpp"

namespace holdfast::runtime {

// Passes everything on to what it is made of. Thread safety: as holding.
class observed_holding final : public holding {
 public:
  observed_holding(engine& of, lock_kind kind, const grant& got, monotonic_time granted_at);
  ~observed_holding() override;

  // The grant, or its end, for the audit trail.
  void log(const event& what) noexcept;
  // Of a loss it hears from now on: once the grant is told.
  void listen();

  const std::shared_ptr<holding>& what() const noexcept { return what_; }

  const std::string& name() const noexcept override { return what_->name(); }
  bool held() const noexcept override { return what_->held(); }
  lease_mode mode() const noexcept override { return what_->mode(); }
  nanoseconds remaining() const noexcept override { return what_->remaining(); }
  std::stop_token lost() override { return what_->lost(); }
  result<void> extend(milliseconds duration) override { return what_->extend(duration); }
  bool set_note(std::string_view text) noexcept override { return what_->set_note(text); }

  bool give_back(const listener& who) override;
  result<void> take_released() override;
  result<void> give_back_and_wait() override;

 private:
  // The observer hears of a loss after this, and not within it. Otherwise a thread that destroys
  // the lease would wait for the observer.
  struct loss {
    observed_holding* of;
    void operator()() const noexcept { of->on_lost(); }
  };

  void on_lost() noexcept;
  void give_back_unheard();
  result<void> tell_released(result<void> how);
  event ending(event_type how) const noexcept;
  bool ends() noexcept { return !ended_.exchange(true, std::memory_order_relaxed); }

  engine& engine_;
  const std::shared_ptr<holding> what_;
  const fencing_token token_;
  const monotonic_time granted_at_;
  const lock_kind kind_;
  std::atomic<bool> ended_{false};
  std::unique_ptr<std::stop_callback<loss>> loss_;
};

// The inside of a lease, observed or not.
const std::shared_ptr<holding>& bare(const std::shared_ptr<holding>& one) noexcept;

}  // namespace holdfast::runtime
