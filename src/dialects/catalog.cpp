#include "dialects/catalog.hpp"

#include <array>

#include "dialects/holdfast/mutex.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::array holdfast_scripts = {
    &scripts::holdfast_acquire,         &scripts::holdfast_renew,      &scripts::holdfast_release,
    &scripts::holdfast_withdraw,        &scripts::holdfast_break_lock, &scripts::holdfast_inspect,
    &scripts::holdfast_register_client,
};

}  // namespace

const recipe& native_mutex(fencing how) noexcept {
  // Never destroyed: another thread may still release a lock while the process exits.
  static const recipe& fenced = *new mutex_recipe{fencing::on};
  static const recipe& unfenced = *new mutex_recipe{fencing::off};
  return how == fencing::on ? fenced : unfenced;
}

std::span<const catalog_entry> catalog() noexcept {
  static const std::array entries = {
      catalog_entry{"holdfast", "mutex", &native_mutex(fencing::on), holdfast_scripts},
      catalog_entry{"holdfast", "mutex without tokens", &native_mutex(fencing::off),
                    holdfast_scripts},
  };
  return entries;
}

}  // namespace holdfast::dialects
