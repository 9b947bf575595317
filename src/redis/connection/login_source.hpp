// The user's callback that gives logins, and the newest login that it gave.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/login.hpp>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "net/alarm_clock.hpp"
#include "net/wake_up.hpp"
#include "redis/connection/breakdown.hpp"
#include "redis/connection/credentials.hpp"
#include "redis/connection/login_schedule.hpp"

namespace holdfast::redis {

// Told on the thread that asks the callback or that read an answer, with no connection's mutex
// held: it must not block, nor call the source's join(), leave() or close().
class login_hearer {
 public:
  virtual void on_new_login() {}
  // `server`: it refused the login; empty: the callback gave none.
  virtual void on_login_failed(const std::string& /*server*/, const std::string& /*why*/) {}

 protected:
  ~login_hearer() = default;
};

// Asks on a thread of its own, which is started when a login is first wanted. The callback may
// block for ever, so nobody can join that thread: it owns this object together with the client, and
// ends when the callback returns. Its mutexes are never held while the callback runs.
//
// Thread safety: all members from any thread.
class login_source : public std::enable_shared_from_this<login_source> {
 public:
  explicit login_source(std::function<login()> asked);

  // Puts the login of now into `into`. Waits for one until the deadline if there is none, or if the
  // last was refused or has ended.
  std::optional<breakdown> find(monotonic_time deadline, credentials& into)
      HOLDFAST_EXCLUDES(hearers_guard_);
  // A server has refused `last`, or nobody knows why the log-in failed. True: a different one is in
  // `last` now, for which this may have waited until the deadline.
  bool replace(monotonic_time deadline, credentials& last);

  // The newest; a number of 0 if there was none.
  credentials newest();
  std::uint64_t newest_number();

  // What servers say to the login of this number. True: nobody has said so before of the newest.
  void accepted(std::uint64_t number);
  bool refused(std::uint64_t number);
  // As above, on a connection that is there: hearers are told, if it is news.
  void refused(std::uint64_t number, const std::string& server, const std::string& why)
      HOLDFAST_EXCLUDES(hearers_guard_);

  // A hearer is not told anything after it has left, nor after close().
  void join(login_hearer& one) HOLDFAST_EXCLUDES(hearers_guard_);
  void leave(const login_hearer& one) HOLDFAST_EXCLUDES(hearers_guard_);

  // Asks no more. Waits until the callback has returned, but no longer than until the deadline.
  void close(monotonic_time deadline) noexcept HOLDFAST_EXCLUDES(hearers_guard_);

 private:
  struct answer {
    login given;
    std::string trouble;  // empty: a login was given
  };

  std::optional<std::string> start_thread();
  void run();
  bool ask();
  answer ask_callback() const;
  void take(const answer& said, monotonic_time asked_at);
  void tell_new() HOLDFAST_EXCLUDES(hearers_guard_);
  void tell_failed(const std::string& server, const std::string& why)
      HOLDFAST_EXCLUDES(hearers_guard_);
  bool is_good(std::uint64_t after, monotonic_time now) const;
  void wait(std::unique_lock<std::mutex>& lock, std::uint64_t after, monotonic_time deadline);

  std::function<login()> callback_;  // of the thread, once that has begun
  net::wake_up wake_up_;
  net::alarm_clock alarm_;

  std::mutex guard_;
  std::condition_variable changed_;
  // The rest up to hearers_guard_ is under guard_.
  login_schedule schedule_;
  login known_;
  std::uint64_t number_ = 0;   // of `known_`; 0: none
  std::uint64_t refused_ = 0;  // of the last one that was
  monotonic_time ends_ = monotonic_time::max();
  std::uint64_t answers_ = 0;  // of the callback, failures too
  std::string trouble_;        // of its last answer; empty: none
  bool has_thread_ = false;
  bool is_closed_ = false;

  mutex hearers_guard_;
  std::vector<login_hearer*> hearers_ HOLDFAST_GUARDED_BY(hearers_guard_);
};

}  // namespace holdfast::redis
