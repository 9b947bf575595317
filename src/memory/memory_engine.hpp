// A client whose locks are in the memory of this process, for tests that need no server.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "memory/inbox.hpp"
#include "memory/lock_table.hpp"
#include "runtime/engine.hpp"

namespace holdfast::memory {

// A lock of memory excludes all clients of this process that name the same table; others do not
// know of it. Thread safety: as runtime::engine.
class memory_engine final : public runtime::engine {
 public:
  // Throws failure{unsupported} for options of servers.
  memory_engine(const std::string& table, const client_options& options);
  ~memory_engine() override;

  lock_table& table() noexcept { return *table_; }
  const std::shared_ptr<inbox>& box() const noexcept { return inbox_; }
  // Others want what this request holds, and it may be retained.
  void revoke(const request_id& request) HOLDFAST_EXCLUDES(mutex_);

  // Of runtime::engine.
  void shut_down() noexcept override;
  void check(const runtime::lock_spec& spec) const override;
  std::shared_ptr<runtime::lock_driver> make_driver(std::shared_ptr<const runtime::lock_spec> spec,
                                                    leasing::patience patience, bool may_stop,
                                                    runtime::local_lock* local) override;
  net::event_source& source_of(std::uint16_t) noexcept override { return sleep_; }
  net::event_source* home() noexcept override { return nullptr; }
  void prepare_to_drive() const override;
  void expect_revoke(const request_id& request,
                     const std::shared_ptr<runtime::local_lock>& by) override
      HOLDFAST_EXCLUDES(mutex_);
  void expect_no_revoke(const request_id& request) override HOLDFAST_EXCLUDES(mutex_);
  void wake_changes_of(const runtime::lock_driver& held) override HOLDFAST_EXCLUDES(mutex_);
  runtime::wait_watch* deadlocks() noexcept override { return nullptr; }

 private:
  // Answers come on the background thread: who waits only sleeps.
  class only_sleep final : public net::event_source {
   public:
    void drive(net::waiter& who) noexcept override;
    void forget(const net::waiter&) override {}
  };

  const std::shared_ptr<lock_table> table_;
  const std::shared_ptr<inbox> inbox_;
  only_sleep sleep_;
  mutex mutex_;
  std::map<std::uint64_t, std::weak_ptr<runtime::local_lock>> retained_ HOLDFAST_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<memory_lock>> changes_ HOLDFAST_GUARDED_BY(mutex_);  // of what is held
};

// Of a client whose locks are there; null: they are kept elsewhere.
memory_engine* find_engine(runtime::engine& of) noexcept;

}  // namespace holdfast::memory
