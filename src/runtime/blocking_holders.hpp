// Which threads have acquired a lock, blocking, and still have it: none shall wait for itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "runtime/holding.hpp"

namespace holdfast::runtime {

// Thread safety: all members from any thread.
class blocking_holders {
 public:
  void add(identity thread, std::weak_ptr<const holding> what) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    // Here, since perhaps no thread ever looks: one that only tries does not.
    std::erase_if(all_, [](const auto& one) { return one.second.expired(); });
    all_.emplace_back(thread, std::move(what));
  }

  bool has(identity thread) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return std::ranges::any_of(all_, [&](const auto& one) {
      const auto what = one.second.lock();
      return one.first == thread && what && what->held();
    });
  }

  // How many are remembered.
  std::size_t size() HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    return all_.size();
  }

 private:
  mutex mutex_;
  std::vector<std::pair<identity, std::weak_ptr<const holding>>> all_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::runtime
