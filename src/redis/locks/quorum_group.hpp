// The servers of a quorum, which all its locks and leases share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

// A task that goes on after its caller has gone, for as long as anybody has the quorum.
class quorum_errand {
 public:
  // Nobody has it any more: ends without telling anybody. With no lock held.
  virtual void abandon() = 0;

 protected:
  ~quorum_errand() = default;
};

// Keeps the members' clients alive; each request under way keeps this alive. Thread safety: all
// members from any thread.
class quorum_group {
 public:
  quorum_group(std::vector<std::shared_ptr<client_core>> members, milliseconds longest_lease);
  ~quorum_group();
  quorum_group(const quorum_group&) = delete;
  quorum_group& operator=(const quorum_group&) = delete;

  std::size_t size() const noexcept { return members_.size(); }
  redis_engine& at(std::size_t member) const noexcept { return *engines_[member]; }
  // Of the timers, callbacks and request ids, which need no connection.
  redis_engine& home() const noexcept { return at(0); }
  const std::shared_ptr<client_core>& home_client() const noexcept { return members_.front(); }
  std::span<const std::string> names() const noexcept { return names_; }
  milliseconds longest_lease() const noexcept { return longest_lease_; }
  milliseconds response_timeout() const noexcept { return response_timeout_; }
  bool is_in_its_process() const noexcept { return home().is_in_its_process(); }
  bool hears() const noexcept;  // whether any member can tell us something

  // A thread has waited in vain for this member: it is read in the background until it answers
  // again, so that nobody is kept by it twice.
  bool is_slow(std::size_t member) const noexcept { return slow_[member].load(); }
  void set_slow(std::size_t member, bool slow) noexcept;

  // This member has not answered the last request in time: nobody waits for it where votes are
  // split. It is still asked.
  bool is_silent(std::size_t member) const noexcept { return silent_[member].load(); }
  void set_silent(std::size_t member, bool silent) noexcept;

  // From `began` to `decided` an errand is not cut off when the last handle goes; from then to
  // `ended` it is. False: that has gone before.
  bool began(const std::shared_ptr<quorum_errand>& one);
  void decided() noexcept;
  void ended(const quorum_errand& one) noexcept;
  // Waits for response_timeout at most until all is decided, and abandons what has not ended.
  void close() noexcept;

 private:
  std::vector<std::shared_ptr<client_core>> members_;
  std::vector<redis_engine*> engines_;  // theirs
  std::vector<std::string> names_;
  const milliseconds longest_lease_;
  milliseconds response_timeout_{};
  std::unique_ptr<std::atomic<bool>[]> slow_, silent_;
  std::mutex guard_;
  bool is_closed_ = false;
  std::size_t undecided_ = 0;
  std::unordered_map<const quorum_errand*, std::weak_ptr<quorum_errand>> under_way_;
  std::condition_variable quiet_;
};

// Shared by users' handles. When the last goes, releases under way may be decided first, and the
// members' clients are closed before it is gone. They close soon after instead, if a member does
// not answer in time, or if the last goes on a thread of a client's.
class quorum_handle {
 public:
  explicit quorum_handle(std::unique_ptr<quorum_group> group);
  ~quorum_handle();
  quorum_handle(const quorum_handle&) = delete;
  quorum_handle& operator=(const quorum_handle&) = delete;
  const std::shared_ptr<quorum_group>& group() const noexcept { return group_; }

 private:
  class farewell;

  const std::shared_ptr<farewell> farewell_;
  std::shared_ptr<quorum_group> group_;
};

}  // namespace holdfast::redis_locks
