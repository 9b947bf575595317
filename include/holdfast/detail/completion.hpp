/// \file
/// How an asynchronous operation tells that it has finished. Not for users.
#pragma once

#include <coroutine>

namespace holdfast::detail {

/// Runs once when an operation has finished. If the operation was started inside `sync_wait`, it
/// runs on that thread, otherwise on the client's callback thread. It never runs on a thread that
/// does the client's I/O for others, and never under a lock of ours.
class completion {
 public:
  virtual void complete() noexcept = 0;

  completion() = default;
  completion(const completion&) = delete;
  completion& operator=(const completion&) = delete;

  /// Link for the queue that holds finished operations.
  completion* next_finished = nullptr;

 protected:
  ~completion() = default;
};

/// Resumes a coroutine.
class resumption : public completion {
 public:
  void complete() noexcept final { waiting.resume(); }

  std::coroutine_handle<> waiting;

 protected:
  ~resumption() = default;
};

}  // namespace holdfast::detail
