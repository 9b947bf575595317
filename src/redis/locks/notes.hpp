// What grants of this client are for, written down at the server for people who look at locks.
#pragma once

#include <string>
#include <vector>

#include "base/lock_key.hpp"
#include "base/mutex.hpp"
#include "redis/connection/request.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"
#include "substrate/claim.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Notes stand in the client's entry of the registry, and go with it. Nothing waits for them and
// nothing depends on them: one that cannot be written is lost. Thread safety: set() from any
// thread.
class notes final : private redis::request {
 public:
  explicit notes(redis_engine& owner);

  // Of the grant with this major. An empty note removes it. Where there is no memory, or too much
  // is to be written already, nothing.
  void set(const lock_key& lock, substrate::token_major major, std::string_view text) noexcept
      HOLDFAST_EXCLUDES(mutex_);

 private:
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override;
  void on_failed(no_answer what, const redis::breakdown& why) override;
  void send_next() HOLDFAST_EXCLUDES(mutex_);

  redis_engine& engine_;
  const dialects::client_place place_;
  std::vector<dialects::note_change> sent_;  // changes only while no command is under way
  mutex mutex_;
  std::vector<dialects::note_change> wanted_ HOLDFAST_GUARDED_BY(mutex_);
  bool is_under_way_ HOLDFAST_GUARDED_BY(mutex_) = false;
};

}  // namespace holdfast::redis_locks
