// One command at one member of a quorum.
#pragma once

#include <cstdint>
#include <memory>

#include "lease/step.hpp"
#include "redis/connection/connection.hpp"
#include "redis/dialects/holdfast/quorum.hpp"
#include "redis/locks/quorum_spec.hpp"

namespace holdfast::redis_locks {

// Owns itself until it was answered. Immutable once it is submitted.
class quorum_call final : private redis::request {
 public:
  enum class what : std::uint8_t { vote, join, enter, stay_out, agree, keep, release, leave };
  struct question {
    std::size_t member = 0;
    what asks = what::vote;
    std::uint32_t attempt = 0;
    std::shared_ptr<const quorum_spec> spec;
    substrate::quorum_claim claim;  // of its key
  };
  // Is told once for each call, with no lock held, unless it is gone.
  class asker {
   public:
    virtual void on_answer(const question& asked, const resp::value& reply,
                           monotonic_time sent_at) = 0;
    virtual void on_missing(const question& asked, no_answer how, const redis::breakdown& why) = 0;

   protected:
    ~asker() = default;
  };

  // Whether the answer matters, and so keeps the asker alive.
  enum class interest : std::uint8_t { passing, lasting };

  // May be called under a mutex of the asker's: that comes before the connection's.
  static void submit(const std::shared_ptr<asker>& who, interest theirs, question asks,
                     redis::connection::delivery how);

 private:
  quorum_call(const std::shared_ptr<asker>& who, interest theirs, question asks);

  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override;
  void on_failed(no_answer how, const redis::breakdown& why) override;
  quorum_group& group() const noexcept { return *asks_.spec->group; }
  redis_engine& at() const noexcept { return group().at(asks_.member); }
  redis::connection& connection() const noexcept { return at().connection(slot()); }
  shared_clock& clock() const noexcept { return at().clock(slot()); }
  std::uint16_t slot() const noexcept { return asks_.spec->key->slot(); }

  question asks_;  // first: its group outlives the asker
  const std::weak_ptr<asker> who_;
  const std::shared_ptr<asker> kept_;
  const monotonic_time not_after_;  // on our clock
};

}  // namespace holdfast::redis_locks
