// A mutex with the annotations that Clang's thread-safety analysis needs. Four bytes instead of the
// forty of std::mutex: every held lock has two of them.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__clang__)
#define HOLDFAST_ANNOTATE(x) __attribute__((x))
#else
#define HOLDFAST_ANNOTATE(x)
#endif

#define HOLDFAST_GUARDED_BY(m) HOLDFAST_ANNOTATE(guarded_by(m))
#define HOLDFAST_REQUIRES(...) HOLDFAST_ANNOTATE(requires_capability(__VA_ARGS__))
#define HOLDFAST_EXCLUDES(...) HOLDFAST_ANNOTATE(locks_excluded(__VA_ARGS__))
#define HOLDFAST_ASSERTS(m) HOLDFAST_ANNOTATE(assert_capability(m))

namespace holdfast {

// The third mutex of U. Drepper, "Futexes Are Tricky" (2011): it calls the system only when a
// thread may have to be woken. Not std::atomic::wait, which yields in a loop before it sleeps.
class HOLDFAST_ANNOTATE(capability("mutex")) mutex {
 public:
  mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() HOLDFAST_ANNOTATE(acquire_capability()) {
    if (!try_lock()) wait_and_lock();
  }
  void unlock() HOLDFAST_ANNOTATE(release_capability()) {
    if (state_.exchange(unlocked, std::memory_order_release) == waited_for) wake_one();
  }
  bool try_lock() HOLDFAST_ANNOTATE(try_acquire_capability(true)) {
    std::uint32_t expected = unlocked;
    return state_.compare_exchange_strong(expected, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

 private:
  void wait_and_lock() noexcept;
  void wake_one() noexcept;

  static constexpr std::uint32_t unlocked = 0, locked = 1, waited_for = 2;
  std::atomic<std::uint32_t> state_{unlocked};
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
