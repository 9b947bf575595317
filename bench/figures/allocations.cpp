// How often does a pair ask for memory? This program counts every operator new.
#include <atomic>
#include <cstdlib>
#include <new>

#include <holdfast/client.hpp>
#include <holdfast/task.hpp>

#include "support/setting.hpp"

namespace {
std::atomic<long> allocations_made{0};
}  // namespace

// GCC sees malloc and free meet here and takes it for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

// The other forms of new end here, and the other forms of delete there.
void* operator new(std::size_t size) {
  allocations_made.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdfast::bench {
namespace {

constexpr int pairs = 2000;
constexpr double for_what_is_rare = 0.01;  // the client's entry, a buffer that grows

template <typename Work>
double allocations_per_pair(Work work) {
  work();  // buffers grow to their size
  const auto before = allocations_made.load();
  work();
  return static_cast<double>(allocations_made.load() - before) / pairs;
}

task<> pairs_of(lock target) {
  for (int i = 0; i < pairs; ++i) {
    auto held = co_await target.async_acquire();
    (co_await held.async_release()).value();
  }
}

}  // namespace

void allocations(const setting& with) {
  const holdfast::client client(with.redis.url());
  const auto lock = client.mutex("bench");
  const auto judge = [&](const char* name, double made, double needed) {
    with.results.at_most(name, made, "allocations", needed + for_what_is_rare);
  };
  judge("allocations.blocking_pair", allocations_per_pair([&] {
          for (int i = 0; i < pairs; ++i) lock.acquire().release().value();
        }),
        1);
  judge("allocations.coroutine_pair", allocations_per_pair([&] { sync_wait(pairs_of(lock)); }), 2);
}

}  // namespace holdfast::bench
