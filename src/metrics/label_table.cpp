#include "metrics/label_table.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace holdfast::metering {

labelled::~labelled() {
  for (const auto& one : kinds_) delete one.load();
}

series& labelled::of(lock_kind kind) {
  const auto known =
      static_cast<std::size_t>(kind) < lock_kinds ? static_cast<std::size_t>(kind) : 0;
  series* has = kinds_[known].load(std::memory_order_acquire);
  if (has != nullptr) return *has;
  auto made = std::make_unique<series>();
  if (kinds_[known].compare_exchange_strong(has, made.get())) return *made.release();
  return *has;
}

label_table::label_table(std::size_t most) : most_(most), places_(std::bit_ceil(2 * most)) {}

// Where it is, or would be.
std::atomic<labelled*>& label_table::place_of(const std::string& label) noexcept {
  const auto mask = places_.size() - 1;
  for (auto i = std::hash<std::string>{}(label)&mask;; i = (i + 1) & mask) {
    const auto* const there = places_[i].load(std::memory_order_acquire);
    if (there == nullptr || there->label() == label) return places_[i];
  }
}

labelled* label_table::find_or_add(const std::string& label) {
  // Before the look: a table that is full meanwhile may have become so by this label.
  const bool was_full = is_full_.load(std::memory_order_acquire);
  auto* const known = place_of(label).load(std::memory_order_acquire);
  if (known != nullptr || was_full) return known;
  const scoped_mutex lock(mutex_);
  auto& place = place_of(label);
  if (auto* const meanwhile = place.load()) return meanwhile;
  if (owned_.size() == most_) return nullptr;
  owned_.push_back(std::make_unique<labelled>(label));
  place.store(owned_.back().get(), std::memory_order_release);
  if (owned_.size() == most_) is_full_.store(true, std::memory_order_release);
  return owned_.back().get();
}

std::vector<const labelled*> label_table::all() const {
  std::vector<const labelled*> found;
  for (const auto& one : places_) {
    if (const auto* const there = one.load(std::memory_order_acquire)) found.push_back(there);
  }
  std::ranges::sort(found, {},
                    [](const labelled* one) -> const std::string& { return one->label(); });
  return found;
}

}  // namespace holdfast::metering
