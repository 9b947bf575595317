// Asks for, or gives back, several plain locks of one client in one command. In a cluster all are
// of one hash slot.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "redis/connection.hpp"
#include "redis/request.hpp"

namespace holdfast::runtime {

class engine;
class lock_driver;
struct lock_spec;

// Drivers that are started with a listener which names it add themselves instead of asking, once;
// each hears the answer as if it had asked alone, and goes on alone. Owns itself once submitted.
// Thread safety: one thread until it is submitted.
class joint_request final : private redis::request {
 public:
  static constexpr std::size_t most = 100;
  static bool can_have(const lock_spec& spec) noexcept;

  // `parts`: at most so many are added.
  joint_request(engine& owner, std::size_t parts) : engine_(owner) { members_.reserve(parts); }

  bool is_full() const noexcept { return members_.size() >= most; }
  // Under the driver's mutex.
  void add(std::shared_ptr<lock_driver> member) noexcept { members_.push_back(std::move(member)); }

  // Null: nothing is submitted.
  static void submit(std::unique_ptr<joint_request> all, redis::waiter* sleeper,
                     redis::connection::delivery how);
  // Nothing was sent: so they are told.
  void cancel();

 private:
  std::uint16_t slot() const noexcept;
  void write(resp::writer& out, monotonic_time sent_at) override;
  void on_reply(resp::value& reply) override;
  void on_failed(no_answer what, const redis::breakdown& why) override;

  engine& engine_;
  std::vector<std::shared_ptr<lock_driver>> members_;
};

}  // namespace holdfast::runtime
