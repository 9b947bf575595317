// Which node of a cluster has which hash slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/mutex.hpp"
#include "net/clock.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/locks/cluster.hpp"
#include "redis/locks/master.hpp"

namespace holdfast::redis_locks {

// Asks one node after the other until one knows of masters: those that are known, then those of the
// URL that are not.
class cluster::slots_query final : public redis::request {
 public:
  explicit slots_query(cluster& of) : of_(of) {}

  void start() {
    const auto now = net::now();
    {
      const scoped_mutex lock(mutex_);
      if (!left_.empty() || now < not_before_) return;
      left_ = of_.all();
      // The last is asked first: one that can be asked at once, and each time another.
      const auto first = left_.begin() + static_cast<std::ptrdiff_t>(turn_++ % left_.size());
      std::rotate(left_.begin(), first, left_.end());
      std::stable_partition(left_.begin(), left_.end(),
                            [](master* one) { return !one->connection.is_up(); });
    }
    ask();
  }

 private:
  static constexpr milliseconds pause_between_queries{50};

  void ask() {
    master* next = nullptr;
    {
      const scoped_mutex lock(mutex_);
      next = left_.back();
    }
    next->connection.submit(*this, redis::connection::delivery::prompt);
  }

  void write(resp::writer& out, monotonic_time) override {
    out.command(2);
    out.arg("CLUSTER");
    out.arg("SLOTS");
  }

  void on_reply(resp::value& reply) override {
    master* asked = nullptr;
    {
      const scoped_mutex lock(mutex_);
      asked = left_.back();
    }
    const auto ranges = redis::read_slots(reply, of_.place_of(*asked));
    if (ranges && of_.adopt(*ranges)) return end();
    ask_the_next();
  }

  void on_failed(no_answer, const redis::breakdown&) override { ask_the_next(); }

  void ask_the_next() {
    {
      const scoped_mutex lock(mutex_);
      left_.pop_back();
      if (left_.empty()) left_ = of_.new_from_url();
      if (left_.empty()) not_before_ = net::now() + pause_between_queries;
      if (left_.empty()) return;
    }
    ask();
  }

  void end() {
    const scoped_mutex lock(mutex_);
    left_.clear();
    not_before_ = net::now() + pause_between_queries;
  }

  cluster& of_;
  mutex mutex_;
  std::vector<master*> left_ HOLDFAST_GUARDED_BY(mutex_);  // to ask; the last is being asked
  monotonic_time not_before_ HOLDFAST_GUARDED_BY(mutex_){};
  std::size_t turn_ HOLDFAST_GUARDED_BY(mutex_) = 0;
};

}  // namespace holdfast::redis_locks
