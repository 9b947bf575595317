// One command at one member of a quorum.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dialects/holdfast/quorum.hpp"
#include "lease/step.hpp"
#include "redis/connection.hpp"
#include "runtime/quorum_spec.hpp"

namespace holdfast::runtime {

// Owns itself until it was answered. Immutable once it is submitted.
class quorum_call final : private redis::request {
 public:
  enum class what : std::uint8_t { vote, join, enter, stay_out, agree, keep, release, leave };
  struct question {
    std::size_t member = 0;
    what asks = what::vote;
    std::uint32_t attempt = 0;
    std::shared_ptr<const quorum_spec> spec;
    dialects::quorum_claim claim;  // of its key
  };
  // Is told once for each call, with no lock held, unless it is gone.
  class asker {
   public:
    virtual void on_answer(const question& asked, const resp::value& reply,
                           monotonic_time sent_at) = 0;
    virtual void on_missing(const question& asked, leasing::missing how,
                            const redis::breakdown& why) = 0;

   protected:
    ~asker() = default;
  };

  // Whether the answer matters, and so keeps alive who asked.
  enum class interest : std::uint8_t { passing, lasting };

  // May be called under a mutex of the asker's: that comes before the connection's.
  static void submit(const std::shared_ptr<asker>& who, interest theirs, question asks,
                     redis::connection::delivery how);

 private:
  quorum_call(const std::shared_ptr<asker>& who, interest theirs, question asks);

  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override;
  void on_failed(redis::fate fate, const redis::breakdown& why) override;
  quorum_group& group() const noexcept { return *asks_.spec->group; }
  engine& at() const noexcept { return group().at(asks_.member); }
  redis::connection& connection() const noexcept { return at().connection(slot()); }
  shared_clock& clock() const noexcept { return at().clock(slot()); }
  std::uint16_t slot() const noexcept { return asks_.spec->key->slot(); }

  question asks_;  // first: its group outlives who asked
  const std::weak_ptr<asker> who_;
  const std::shared_ptr<asker> kept_;
  const monotonic_time not_after_;  // on our clock
};

// The thread that waits for several members: which of their connections it reads itself.
// Guarded by the mutex of whoever has it.
class quorum_reader {
 public:
  explicit quorum_reader(std::size_t members) : mine_(members, false) {}

  // The calling thread will look for answers.
  void begin(redis::waiter* sleeper);
  void end() noexcept { sleeper_ = nullptr; }

  // How a question is sent that the calling thread asks.
  redis::connection::delivery delivery_to(const quorum_group& group, std::size_t member);
  void answered(std::size_t member) noexcept;
  void wake() noexcept;
  std::optional<std::size_t> next() const noexcept;
  // All was decided while the thread read at `member`, if at any.
  void left(quorum_group& group, std::uint16_t slot, std::optional<std::size_t> member) const;

 private:
  redis::waiter* sleeper_ = nullptr;
  std::uint64_t thread_ = 0;
  std::vector<bool> mine_;  // asked, and this thread is to read the answer
};

}  // namespace holdfast::runtime
