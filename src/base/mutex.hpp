// std::mutex with the annotations that Clang's thread-safety analysis needs (libstdc++'s has none).
#pragma once

#include <mutex>

#if defined(__clang__)
#define HOLDFAST_ANNOTATE(x) __attribute__((x))
#else
#define HOLDFAST_ANNOTATE(x)
#endif

#define HOLDFAST_GUARDED_BY(m) HOLDFAST_ANNOTATE(guarded_by(m))
#define HOLDFAST_REQUIRES(...) HOLDFAST_ANNOTATE(requires_capability(__VA_ARGS__))
#define HOLDFAST_EXCLUDES(...) HOLDFAST_ANNOTATE(locks_excluded(__VA_ARGS__))

namespace holdfast {

class HOLDFAST_ANNOTATE(capability("mutex")) mutex {
 public:
  void lock() HOLDFAST_ANNOTATE(acquire_capability()) { mutex_.lock(); }
  void unlock() HOLDFAST_ANNOTATE(release_capability()) { mutex_.unlock(); }
  bool try_lock() HOLDFAST_ANNOTATE(try_acquire_capability(true)) { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

// Holds a mutex for a scope; may be unlocked and locked again in between.
class HOLDFAST_ANNOTATE(scoped_lockable) scoped_mutex {
 public:
  explicit scoped_mutex(mutex& m) HOLDFAST_ANNOTATE(acquire_capability(m)) : mutex_(m) {
    mutex_.lock();
  }
  ~scoped_mutex() HOLDFAST_ANNOTATE(release_capability()) {
    if (locked_) mutex_.unlock();
  }
  scoped_mutex(const scoped_mutex&) = delete;
  scoped_mutex& operator=(const scoped_mutex&) = delete;

  void unlock() HOLDFAST_ANNOTATE(release_capability()) {
    locked_ = false;
    mutex_.unlock();
  }
  void lock() HOLDFAST_ANNOTATE(acquire_capability()) {
    mutex_.lock();
    locked_ = true;
  }

 private:
  mutex& mutex_;
  bool locked_ = true;
};

}  // namespace holdfast
