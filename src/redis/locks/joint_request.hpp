// Asks for, or gives back, several plain locks of one client in one command. In a cluster all are
// of one hash slot.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "redis/connection/connection.hpp"
#include "redis/connection/request.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

class redis_engine;
class redis_lock;

// Drivers that are started with a listener which names it add themselves instead of asking, once;
// each hears the answer as if it had asked alone, and goes on alone. Owns itself once submitted.
// Thread safety: one thread until it is submitted.
class joint_request final : public runtime::joint_command, private redis::request {
 public:
  static constexpr std::size_t most = 100;
  static bool can_have(const lock_spec& spec) noexcept;

  // `parts`: at most so many are added.
  joint_request(redis_engine& owner, std::size_t parts) : engine_(owner) {
    members_.reserve(parts);
  }

  bool is_full() const noexcept { return members_.size() >= most; }
  void add(std::shared_ptr<lock_driver> member) noexcept override;

  // Null: nothing is submitted.
  static void submit(std::unique_ptr<joint_request> all, net::waiter* sleeper,
                     redis::connection::delivery how);
  // Nothing was sent: so they are told.
  void cancel();

 private:
  std::uint16_t slot() const noexcept;
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override;
  void on_failed(no_answer what, const redis::breakdown& why) override;

  redis_engine& engine_;
  std::vector<std::shared_ptr<redis_lock>> members_;
};

}  // namespace holdfast::redis_locks
