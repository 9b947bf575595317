// Objects that live until the process has ended.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace holdfast {

// For a static of a function: destructors of a user's static objects may still use the library when
// those of its own would have run. A build with clang refuses statics that have one
// (-Wexit-time-destructors). Takes no memory but what T itself takes.
template <typename T>
class never_destroyed {
 public:
  template <typename... Args>
  explicit never_destroyed(Args&&... args) {
    ::new (static_cast<void*>(place_)) T(std::forward<Args>(args)...);
  }
  never_destroyed(const never_destroyed&) = delete;
  never_destroyed& operator=(const never_destroyed&) = delete;

  const T& operator*() const noexcept { return *std::launder(reinterpret_cast<const T*>(place_)); }

 private:
  alignas(T) std::byte place_[sizeof(T)];
};
template <typename T>
never_destroyed(T) -> never_destroyed<T>;

}  // namespace holdfast
