// Our entry in the client registry: names the client behind a request id, for people who look at
// locks.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/request_id.hpp"
#include "base/time.hpp"
#include "redis/connection/request.hpp"
#include "redis/dialects/holdfast/client_registry.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Written when the first lock is asked for, and again every minute while locks are waited for or
// held; the server forgets it three minutes after the last time, or later where leases are longer.
// Also takes a sample of the server's clock then. Nothing waits for it and nothing depends on it.
// Thread safety: refresh() from any thread; withdraw() once, before the end.
class registration {
 public:
  registration(redis_engine& owner, const client_id& id);

  // Cheap when fresh. `lease`: of the lock that is asked for.
  void refresh(milliseconds lease);
  void withdraw();  // removes the entry

 private:
  // One command that is sent again and again, never twice at a time.
  class notice : public redis::request {
   public:
    explicit notice(registration& of) : of_(of) {}
    bool take() noexcept { return !under_way_.exchange(true, std::memory_order_acq_rel); }

   protected:
    ~notice() override = default;
    void on_reply(resp::value&) override { under_way_.store(false, std::memory_order_release); }
    void on_failed(no_answer, const redis::breakdown&) override {
      of_.fresh_until_.store(0, std::memory_order_relaxed);
      under_way_.store(false, std::memory_order_release);
    }
    registration& of_;

   private:
    std::atomic<bool> under_way_{false};
  };
  class entry final : public notice {
   public:
    using notice::notice;
    void write(resp::writer& out, monotonic_time) override;
  };
  class clock_sample final : public notice {
   public:
    using notice::notice;
    void write(resp::writer& out, monotonic_time) override;
    void on_reply(resp::value& reply) override;
  };
  class removal final : public notice {
   public:
    using notice::notice;
    void write(resp::writer& out, monotonic_time) override;
  };

  redis_engine& engine_;
  const dialects::client_place place_;  // of our entry
  const monotonic_time since_;
  std::atomic<std::int64_t> fresh_until_{0};  // nanoseconds of boot_clock
  std::atomic<milliseconds> longest_lease_;
  entry entry_{*this};
  clock_sample sample_{*this};
  removal removal_{*this};
};

}  // namespace holdfast::redis_locks
