// Hearing from a sentinel at once that a service has another master.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/time.hpp"
#include "net/wake_up.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/sentinel.hpp"

namespace holdfast::redis {

// A thread that stays connected to one sentinel: it asks every second, and at once when the
// sentinel announces a failover. Without it a master that dies silently is noticed only when it is
// asked something. It tells when an answer differs from the one before, not each time: sentinels
// that are cut off from the others may be wrong for long, and must not disturb us all that time.
// One that is behind the others is left for the next; when most of them are, they are believed.
//
// Thread safety: made and destroyed by one thread.
class master_watch {
 public:
  using listener = std::function<void(const std::string& address)>;

  // `known`: the address of the master that is known already. `newest` is shared with others.
  master_watch(sentinel_group group, newest_epoch& newest, milliseconds response_timeout,
               std::string known, listener moved);
  ~master_watch();

 private:
  void run();
  void watch(std::size_t member);
  void listen(link& over, std::size_t member);
  bool ask(link& over);
  bool take(reply_batch& batch, bool& announced, std::size_t member);
  bool believes(std::size_t member);

  const sentinel_group group_;
  newest_epoch& newest_;
  const milliseconds response_timeout_;
  const listener moved_;
  std::string last_;            // address of the master, as far as we have heard
  std::size_t unanswered_ = 0;  // of our questions
  std::optional<std::uint64_t> epoch_;
  std::vector<bool> behind_;  // which members, since one was heard that was not
  net::wake_up cancel_;
  std::atomic<bool> cancelled_{false};
  std::thread thread_;
};

}  // namespace holdfast::redis
