// The messages of a table of locks to the requests of one client, one after the other.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "net/background_thread.hpp"

namespace holdfast::memory {

// Delivers on the client's background thread, since the thread that causes an answer has a mutex
// that the addressee may need. Thread safety: push() from any thread.
class inbox final : public net::attendant {
 public:
  explicit inbox(net::background_thread& helper) : helper_(&helper) {}

  using letter = std::function<void()>;
  void push(letter one) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (helper_ == nullptr) return;
    letters_.push_back(std::move(one));
    helper_->wake();
  }

  // When the background thread has stopped: the last letters are delivered, and no more come.
  void close() HOLDFAST_EXCLUDES(mutex_) {
    while (deliver()) continue;
    const scoped_mutex lock(mutex_);
    helper_ = nullptr;
  }

  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return letters_.empty() ? interest{} : interest{.at = now};
  }
  void attend(short, monotonic_time) override { (void)deliver(); }

 private:
  // False: there was nothing.
  bool deliver() HOLDFAST_EXCLUDES(mutex_) {
    std::vector<letter> arrived;
    {
      const scoped_mutex lock(mutex_);
      arrived.swap(letters_);
    }
    for (const auto& one : arrived) one();
    return !arrived.empty();
  }

  mutex mutex_;
  net::background_thread* helper_ HOLDFAST_GUARDED_BY(mutex_);  // null: closed
  std::vector<letter> letters_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::memory
