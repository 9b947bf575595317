// A system that has no thread left.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace holdfast::support {

// While one exists no thread of this process can be started: each would want a stack that nobody
// has.
class no_thread_left {
 public:
  no_thread_left() {
    ::pthread_getattr_default_np(&usual_);
    ::pthread_attr_t greedy;
    ::pthread_attr_init(&greedy);
    ::pthread_attr_setstacksize(&greedy, std::size_t{1} << 60);
    ::pthread_setattr_default_np(&greedy);
  }
  ~no_thread_left() { ::pthread_setattr_default_np(&usual_); }
  no_thread_left(const no_thread_left&) = delete;
  no_thread_left& operator=(const no_thread_left&) = delete;

 private:
  ::pthread_attr_t usual_{};
};

}  // namespace holdfast::support
