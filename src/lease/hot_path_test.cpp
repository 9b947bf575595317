// An uncontended lock and unlock must not allocate in this room. Counts what it does. Not where
// ThreadSanitizer keeps an operator new of its own.
#ifndef HOLDFAST_SANITIZED_thread
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "lease/acquire_machine.hpp"
#include "lease/answers_for_tests.hpp"
#include "lease/lease_machine.hpp"
#include "lease/release_machine.hpp"
#include "substrate/claim.hpp"

namespace {
std::atomic<long> allocations{0};
}  // namespace

// Not inlined: g++ 12 would see `new` meet `free` and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace holdfast::leasing {
namespace {

TEST(HotPath, LockAndUnlockAllocateNothing) {
  substrate::claim claim = test_claim();
  const auto granted = say("granted", 10'000);
  const auto released = say_back("released");
  const auto now = local_start;

  const long before = allocations;
  acquire_machine acquire(claim, {true, local_start + milliseconds(60'000)}, {});
  const step ask = acquire.start(now);
  const step held = acquire.on_acquired(granted, now, now);
  lease_machine hold(claim.lease, true, claim.lease, now, held.done->deadline);
  const lease_step timer = hold.start();
  release_machine release(acquire.claim(), hold.deadline());
  const release_step give_back = release.start(now);
  const release_step over = release.on_given_back(released, now);
  const long after = allocations;

  EXPECT_EQ(after - before, 0);
  EXPECT_EQ(ask.send, ask::acquire);
  EXPECT_TRUE(timer.wake_at);
  EXPECT_EQ(give_back.send, ask::release);
  EXPECT_TRUE(over.finished);
}

TEST(HotPath, TheCountIsNotBlind) {
  const long before = allocations;
  const std::string longer_than_the_small_buffer(100, 'x');
  EXPECT_EQ(allocations - before, 1) << longer_than_the_small_buffer;
}

}  // namespace
}  // namespace holdfast::leasing
#endif
