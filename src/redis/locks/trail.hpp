// The grants of this client and their ends, written down at the server: client_options::audit.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "net/background_thread.hpp"
#include "redis/connection/request.hpp"
#include "redis/dialects/holdfast/trail.hpp"
#include "runtime/grant_log.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// The first entry after a pause is written at once, others a moment later, many in one command.
// What could not be sent is sent again, also when a connection has come back. What is dropped, as
// there is too much, is counted there. (docs/decisions/0032-audit-trail.md)
inline constexpr milliseconds trail_pause{100};

// Thread safety: note() and end() from any thread; the rest as its bases say.
class trail final : public runtime::grant_log, public net::attendant, private redis::request {
 public:
  trail(redis_engine& owner, net::background_thread& helper);

  void note(const event& what, const runtime::holding& of,
            monotonic_time granted_at) noexcept override HOLDFAST_EXCLUDES(mutex_);

  // The client is being closed, and waits a bounded time until all is written.
  void end() noexcept HOLDFAST_EXCLUDES(mutex_);

  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void attend(short events, monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);

 private:
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override HOLDFAST_EXCLUDES(mutex_);
  void on_failed(no_answer what, const redis::breakdown& why) override HOLDFAST_EXCLUDES(mutex_);

  void add(dialects::trail_note entry) HOLDFAST_REQUIRES(mutex_);
  bool is_due(monotonic_time now) const HOLDFAST_REQUIRES(mutex_);
  bool take_batch(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void send_if_due(monotonic_time now) HOLDFAST_EXCLUDES(mutex_);
  void settled() HOLDFAST_EXCLUDES(mutex_);

  redis_engine& engine_;
  net::background_thread& helper_;
  const dialects::stream_place place_;
  const dialects::trail_author author_;
  std::vector<dialects::trail_note> sent_;  // changes only while no command is under way
  mutex mutex_;
  std::deque<dialects::trail_note> wanted_ HOLDFAST_GUARDED_BY(mutex_);
  std::uint64_t missed_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  monotonic_time next_at_ HOLDFAST_GUARDED_BY(mutex_){};
  monotonic_time quiet_until_ HOLDFAST_GUARDED_BY(mutex_){};
  bool is_under_way_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool is_ending_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
