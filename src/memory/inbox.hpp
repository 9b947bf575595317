// What the requests of one client are told by a table of locks, one after the other.
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "base/mutex.hpp"
#include "net/background_thread.hpp"

namespace holdfast::memory {

class memory_lock;

// Delivers on the client's background thread, since whoever causes an answer has a mutex that the
// addressee may need. Thread safety: push() and close() from any thread.
class inbox final : public net::attendant {
 public:
  explicit inbox(net::background_thread& helper) : helper_(&helper) {}

  using message = std::function<void(memory_lock&)>;
  // Dropped when the addressee has gone, or the client.
  void push(std::weak_ptr<memory_lock> to, message what) HOLDFAST_EXCLUDES(mutex_);
  // On the background thread, or when that has stopped. False: there was nothing.
  bool deliver() HOLDFAST_EXCLUDES(mutex_);
  // After the background thread has stopped.
  void close() noexcept HOLDFAST_EXCLUDES(mutex_);

  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void attend(short, monotonic_time) override { (void)deliver(); }

 private:
  struct letter {
    std::weak_ptr<memory_lock> to;
    message what;
  };
  mutex mutex_;
  net::background_thread* helper_ HOLDFAST_GUARDED_BY(mutex_);  // null: closed
  std::deque<letter> letters_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::memory
