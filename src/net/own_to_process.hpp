// An object that each process has once; a forked child gets its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "net/descriptor.hpp"

namespace holdfast::net {

// The only T of this process, made when it is first asked for. The parent's is not touched in a
// forked child: one of the parent's threads, which are not there, may have had its mutex. Never
// destroyed: threads may still use it when the process ends. Thread safety: any thread.
template <typename T>
T& own_to_process() {
  struct owned {
    const std::uint64_t generation;
    [[maybe_unused]] const owned* const of_the_parent;  // not lost: a leak checker sees it
    T what{};
  };
  static std::atomic<owned*> current{nullptr};
  auto* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->generation != process_generation()) {
    auto made = std::unique_ptr<owned>(new owned{process_generation(), known});
    if (current.compare_exchange_strong(known, made.get())) return made.release()->what;
  }
  return known->what;
}

}  // namespace holdfast::net
