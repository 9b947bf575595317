// A file descriptor that no forked child keeps open.
#pragma once

#include <atomic>
#include <cstdint>

namespace holdfast::net {

// Owns a descriptor. In a forked child it is closed at once by an at-fork handler: a child that
// kept a socket or pipe of its parent open would hide the parent's death from the other end.
// Thread safety: get() from any thread; the rest needs exclusive access.
class descriptor {
 public:
  explicit descriptor(int fd = -1) noexcept;
  ~descriptor();
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const noexcept { return fd_.load(std::memory_order_relaxed); }
  explicit operator bool() const noexcept { return get() >= 0; }
  void reset(int fd = -1) noexcept;  // closes what was there
  int release() noexcept;            // gives it away unclosed

 private:
  friend struct descriptor_registry;
  std::atomic<int> fd_;
  descriptor* previous_ = nullptr;
  descriptor* next_ = nullptr;
};

// Grows by one in every forked child. Compare with the value when an object was made to learn
// whether this is still the process that made it.
std::uint64_t process_generation() noexcept;

}  // namespace holdfast::net
