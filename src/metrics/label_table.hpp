// The labels, and the series of each.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/lock_kind.hpp>

#include "base/mutex.hpp"
#include "metrics/series.hpp"

namespace holdfast::metering {

inline constexpr std::size_t lock_kinds = static_cast<std::size_t>(lock_kind::several) + 1;

// Thread safety: all members from any thread.
class labelled {
 public:
  explicit labelled(std::string label) : label_(std::move(label)) {}
  ~labelled();
  labelled(const labelled&) = delete;
  labelled& operator=(const labelled&) = delete;

  const std::string& label() const noexcept { return label_; }
  // Made when it is first asked for. Kinds of a later version are unknown.
  series& of(lock_kind kind);
  // Null: nothing was counted.
  const series* seen(std::size_t kind) const noexcept {
    return kinds_[kind].load(std::memory_order_acquire);
  }

 private:
  const std::string label_;
  std::array<std::atomic<series*>, lock_kinds> kinds_{};
};

// It only grows, up to its bound: a label that finds no place will never find one, so that a gauge
// that went up under a label goes down under the same. Thread safety: all members from any thread.
// Only adding takes the mutex.
class label_table {
 public:
  explicit label_table(std::size_t most);

  // Null: there are as many as there may be.
  labelled* find_or_add(const std::string& label) HOLDFAST_EXCLUDES(mutex_);
  // In the order of their labels.
  std::vector<const labelled*> all() const;

 private:
  std::atomic<labelled*>& place_of(const std::string& label) noexcept;

  const std::size_t most_;
  std::vector<std::atomic<labelled*>> places_;  // at most half of them used
  std::atomic<bool> is_full_{false};
  mutex mutex_;
  std::vector<std::unique_ptr<labelled>> owned_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::metering
