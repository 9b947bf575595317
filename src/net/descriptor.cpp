#include "net/descriptor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "base/mutex.hpp"
#include "base/uncancelled.hpp"

namespace holdfast::net {

// All live descriptors, so that the child of a fork can close them. The mutex is held across fork,
// so that the child finds the list whole and unlocks the copy that it inherits.
struct descriptor_registry {
  mutex guard;
  descriptor* first HOLDFAST_GUARDED_BY(guard) = nullptr;
  std::atomic<std::uint64_t> generation{1};

  descriptor_registry() { pthread_atfork(before_fork, in_parent, in_child); }

  // Never destroyed: static objects of the user may own clients and end after it would.
  static descriptor_registry& instance() {
    static auto* const only = new descriptor_registry;
    return *only;
  }

  // A mutex that is locked before a fork is unlocked on both sides: no analysis follows that.
  static void before_fork() HOLDFAST_ANNOTATE(no_thread_safety_analysis) {
    instance().guard.lock();
  }
  static void in_parent() HOLDFAST_ANNOTATE(no_thread_safety_analysis) {
    instance().guard.unlock();
  }
  static void in_child() HOLDFAST_ANNOTATE(no_thread_safety_analysis) {
    auto& all = instance();
    all.generation.fetch_add(1, std::memory_order_relaxed);
    for (descriptor* d = all.first; d != nullptr; d = d->next_) {
      const int fd = d->fd_.exchange(-1, std::memory_order_relaxed);
      if (fd >= 0) ::close(fd);
    }
    all.guard.unlock();
  }

  void add(descriptor& d) noexcept {
    const scoped_mutex lock(guard);
    d.next_ = first;
    if (first != nullptr) first->previous_ = &d;
    first = &d;
  }

  void remove(descriptor& d) noexcept {
    const scoped_mutex lock(guard);
    (d.previous_ != nullptr ? d.previous_->next_ : first) = d.next_;
    if (d.next_ != nullptr) d.next_->previous_ = d.previous_;
  }
};

descriptor::descriptor(int fd) noexcept : fd_(fd) { descriptor_registry::instance().add(*this); }

descriptor::~descriptor() {
  reset();
  descriptor_registry::instance().remove(*this);
}

void descriptor::reset(int fd) noexcept {
  const int old = fd_.exchange(fd, std::memory_order_relaxed);
  if (old < 0) return;
  const uncancelled meanwhile;
  ::close(old);
}

int descriptor::release() noexcept { return fd_.exchange(-1, std::memory_order_relaxed); }

std::uint64_t process_generation() noexcept {
  return descriptor_registry::instance().generation.load(std::memory_order_relaxed);
}

}  // namespace holdfast::net
