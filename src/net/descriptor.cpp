#include "net/descriptor.hpp"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <utility>

#include "base/uncancelled.hpp"

namespace holdfast::net {

// All live descriptors, so that the child of a fork can close them. The mutex is held across fork,
// so that the child finds the list whole and unlocks the copy that it inherits.
struct descriptor_registry {
  std::mutex guard;
  descriptor* first = nullptr;
  std::atomic<std::uint64_t> generation{1};

  descriptor_registry() {
    pthread_atfork([] { instance().guard.lock(); }, [] { instance().guard.unlock(); },
                   [] { instance().in_child(); });
  }

  // Never destroyed: static objects of the user may own clients and end after it would.
  static descriptor_registry& instance() {
    static auto* const only = new descriptor_registry;
    return *only;
  }

  void in_child() noexcept {
    generation.fetch_add(1, std::memory_order_relaxed);
    for (descriptor* d = first; d != nullptr; d = d->next_) {
      const int fd = d->fd_.exchange(-1, std::memory_order_relaxed);
      if (fd >= 0) ::close(fd);
    }
    guard.unlock();
  }

  void add(descriptor& d) noexcept {
    const std::lock_guard lock(guard);
    d.next_ = first;
    if (first != nullptr) first->previous_ = &d;
    first = &d;
  }

  void remove(descriptor& d) noexcept {
    const std::lock_guard lock(guard);
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
