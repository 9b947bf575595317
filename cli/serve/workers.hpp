// A few threads for calls that may block, and a bounded queue before them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace holdfast::cli {

class workers {
 public:
  workers(std::size_t threads, std::size_t most_queued) : most_queued_(most_queued) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }

  // Calls under way are waited for, and those in the queue are not made.
  ~workers() {
    for (auto& one : threads_) one.request_stop();
  }

  // False when too many wait already.
  bool take(std::function<void()> job) {
    {
      const std::scoped_lock guard(mutex_);
      if (queue_.size() >= most_queued_) return false;
      queue_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !queue_.empty(); });
      if (stop.stop_requested()) return;
      const auto job = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      job();
    }
  }

  const std::size_t most_queued_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::jthread> threads_;  // end before what they use
};

}  // namespace holdfast::cli
