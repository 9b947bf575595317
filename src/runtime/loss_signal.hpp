// The signal that tells the holder of a lease of its loss.
#pragma once

#include <atomic>
#include <stop_token>

#include "runtime/callback_thread.hpp"
#include "runtime/loss_notice.hpp"

namespace holdfast::runtime {

// Costs nothing until somebody asks for the token. Under the lease's mutex, but for is_heard().
class loss_signal {
 public:
  std::stop_token token(bool was_lost) {
    if (!source_.stop_possible()) {
      source_ = std::stop_source{};
      is_heard_ = true;
      if (was_lost) source_.request_stop();  // nobody can listen to it yet
    }
    return source_.get_token();
  }
  bool is_heard() const noexcept { return is_heard_; }

  // Another has the lease from now on.
  void change_hands() noexcept {
    source_ = std::stop_source{std::nostopstate};
    is_heard_ = false;
  }

  void fire(callback_thread& there) const {
    if (source_.stop_possible()) there.post(*new loss_notice{source_});
  }

 private:
  std::stop_source source_{std::nostopstate};
  std::atomic<bool> is_heard_{false};
};

}  // namespace holdfast::runtime
