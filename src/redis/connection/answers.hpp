// The values of one read: which request each of them answers, and which are pushes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "net/waiter.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/request_queue.hpp"

namespace holdfast::redis {

// A thread's own buffers, so that it can hand out answers after it has passed the role on.
class answers {
 public:
  struct summary {
    bool for_leader = false;
    bool for_a_thread = false;
    bool credible = true;  // false: some value answers nothing that was asked
  };

  // Of the calling thread.
  static answers& mine();
  static void prepare();

  // For link::receive().
  reply_batch& batch() noexcept { return batch_; }
  void clear() noexcept;

  // Takes the requests that are answered from those in flight.
  summary match(request_queue& in_flight, const net::waiter* leader) noexcept;
  std::size_t matched() const noexcept { return matched_; }

  // Gives each push to on_push(value, index), and each answer to on_answer(request, value, index).
  template <typename OnPush, typename OnAnswer>
  void hand_out(OnPush on_push, OnAnswer on_answer) {
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      auto& value = batch_[i];
      const auto* const oldest = answered_.first();
      if (oldest != nullptr && oldest->is_answered_by(value)) {
        on_answer(*answered_.pop(), value, i);
      } else if (value.is(resp::type::push)) {
        on_push(value, i);
      }
    }
  }

 private:
  reply_batch batch_;
  request_queue answered_;
  std::size_t matched_ = 0;
};

}  // namespace holdfast::redis
