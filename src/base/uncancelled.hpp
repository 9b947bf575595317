// Threads of the user's that are cancelled while they are inside the library.
#pragma once

#include <pthread.h>

namespace holdfast {

// While one exists, pthread_cancel() does not end its thread: the thread ends at the next
// cancellation point after that. A thread that reads for all others, that has a mutex, or that is
// inside a destructor cannot just be unwound. So one stands around everything of ours that is a
// cancellation point (read, poll, close, join, waiting for a condition, ...) and may run on a
// thread of the user's. They nest. Thread safety: belongs to the thread that made it.
class uncancelled {
 public:
  uncancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~uncancelled() { ::pthread_setcancelstate(before_, nullptr); }
  uncancelled(const uncancelled&) = delete;
  uncancelled& operator=(const uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace holdfast
