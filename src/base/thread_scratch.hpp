// A thread's own buffers, usable until the thread is really over.
#pragma once

namespace holdfast {

// The calling thread's T, made when it is first asked for. A thread_local T itself would be gone
// when destructors of static or other thread_local objects of the user's give back a lock; objects
// that those make anew live until the process ends.
template <typename T>
T& thread_scratch() {
  thread_local T* mine = nullptr;
  struct at_exit {
    ~at_exit() {
      delete mine;
      mine = nullptr;
    }
  };
  if (mine == nullptr) {
    mine = new T;
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wexit-time-destructors"  // objects that are made anew outlive it
#endif
    thread_local at_exit guard;
#ifdef __clang__
#pragma clang diagnostic pop
#endif
    (void)guard;
  }
  return *mine;
}

}  // namespace holdfast
