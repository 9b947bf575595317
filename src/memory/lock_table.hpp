// All locks of one name `memory:NAME`.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/lock_key.hpp"
#include "base/mutex.hpp"
#include "memory/lock_record.hpp"
#include "net/own_to_process.hpp"

namespace holdfast::memory {

// Thread safety: all members from any thread.
class lock_table {
 public:
  // All clients of this process share it, while any of them lives.
  static std::shared_ptr<lock_table> named(const std::string& name) {
    struct tables {
      mutex guard;
      std::map<std::string, std::weak_ptr<lock_table>> all HOLDFAST_GUARDED_BY(guard);
    };
    auto& ours = net::own_to_process<tables>();
    const scoped_mutex lock(ours.guard);
    std::erase_if(ours.all, [](const auto& each) { return each.second.expired(); });
    auto& known = ours.all[name];
    auto table = known.lock();
    if (!table) known = table = std::make_shared<lock_table>();
    return table;
  }

  // Under the table's mutex.
  template <typename Do>
  void with(const lock_key& key, Do what) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    const auto at = locks_.try_emplace(key.value_key(), counter_).first;
    what(at->second);
    if (at->second.is_unused()) locks_.erase(at);
  }

 private:
  mutex mutex_;
  substrate::token_major counter_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::map<std::string, lock_record> locks_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::memory
