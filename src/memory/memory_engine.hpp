// A client whose locks are in the memory of this process, for tests that need no server.
#pragma once

#include <memory>
#include <string>

#include "memory/inbox.hpp"
#include "memory/lock_table.hpp"
#include "net/event_source.hpp"
#include "runtime/engine.hpp"

namespace holdfast::memory {

// A lock of memory excludes all clients of this process that name the same table; others do not
// know of it. Thread safety: as runtime::engine.
class memory_engine final : public runtime::engine, private net::event_source {
 public:
  // Throws failure{unsupported} for options of servers.
  memory_engine(const std::string& table, const client_options& options);
  ~memory_engine() override;

  lock_table& table() noexcept { return *table_; }
  const std::shared_ptr<inbox>& box() const noexcept { return inbox_; }

  // Of runtime::engine.
  void shut_down() noexcept override;
  void check(const runtime::lock_spec& spec) const override;
  std::shared_ptr<runtime::lock_driver> make_driver(std::shared_ptr<const runtime::lock_spec> spec,
                                                    leasing::patience patience, bool may_stop,
                                                    runtime::local_lock* local) override;
  net::event_source& source_of(std::uint16_t) noexcept override { return *this; }
  net::event_source* home() noexcept override { return nullptr; }
  void prepare_to_drive() const override;
  runtime::wait_watch* deadlocks() noexcept override { return nullptr; }
  // The table tells these requests itself.
  void expect_revoke(const request_id&, const std::shared_ptr<runtime::local_lock>&) override {}
  void expect_no_revoke(const request_id&) override {}
  void wake_changes_of(const runtime::lock_driver&) override {}

 private:
  // Answers come on the background thread: a thread that waits for one only sleeps.
  void drive(net::waiter& who) noexcept override;
  void forget(const net::waiter&) override {}

  const std::shared_ptr<lock_table> table_;
  const std::shared_ptr<inbox> inbox_;
};

}  // namespace holdfast::memory
