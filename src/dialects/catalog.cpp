#include "dialects/catalog.hpp"

#include <array>

#include "dialects/holdfast/barrier.hpp"
#include "dialects/holdfast/latch.hpp"
#include "dialects/holdfast/mutex.hpp"
#include "dialects/holdfast/shared_lock.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::array holdfast_scripts = {
    &scripts::holdfast_acquire,         &scripts::holdfast_renew,      &scripts::holdfast_release,
    &scripts::holdfast_withdraw,        &scripts::holdfast_break_lock, &scripts::holdfast_inspect,
    &scripts::holdfast_register_client,
};

constexpr std::array shared_scripts = {
    &scripts::holdfast_shared_acquire,     &scripts::holdfast_shared_renew,
    &scripts::holdfast_shared_release,     &scripts::holdfast_shared_withdraw,
    &scripts::holdfast_shared_set_permits, &scripts::holdfast_shared_break_lock,
};

constexpr std::array latch_scripts = {
    &scripts::holdfast_latch_change,
    &scripts::holdfast_latch_wait,
    &scripts::holdfast_latch_leave,
};

constexpr std::array barrier_scripts = {
    &scripts::holdfast_barrier_arrive,
    &scripts::holdfast_barrier_leave,
};

}  // namespace

const recipe& native_mutex(fencing how) noexcept {
  // Never destroyed: another thread may still release a lock while the process exits.
  static const recipe& fenced = *new mutex_recipe{fencing::on};
  static const recipe& unfenced = *new mutex_recipe{fencing::off};
  return how == fencing::on ? fenced : unfenced;
}

const recipe& native_shared_lock() noexcept {
  static const recipe& only = *new shared_recipe;
  return only;
}

const recipe& native_latch() noexcept {
  static const recipe& only = *new latch_recipe;
  return only;
}

const recipe& native_barrier() noexcept {
  static const recipe& only = *new barrier_recipe;
  return only;
}

std::span<const catalog_entry> catalog() noexcept {
  static const std::array entries = {
      catalog_entry{"holdfast", "mutex", &native_mutex(fencing::on), holdfast_scripts},
      catalog_entry{"holdfast", "mutex without tokens", &native_mutex(fencing::off),
                    holdfast_scripts},
      catalog_entry{"holdfast", "read-write lock", &native_shared_lock(), shared_scripts},
      catalog_entry{"holdfast", "semaphore", &native_shared_lock(), shared_scripts},
      catalog_entry{"holdfast", "mode lock", &native_shared_lock(), shared_scripts},
      catalog_entry{"holdfast", "latch", &native_latch(), latch_scripts},
      catalog_entry{"holdfast", "barrier", &native_barrier(), barrier_scripts},
  };
  return entries;
}

}  // namespace holdfast::dialects
