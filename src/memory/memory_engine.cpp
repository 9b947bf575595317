#include "memory/memory_engine.hpp"

#include <utility>

#include <holdfast/errc.hpp>

#include "memory/memory_lock.hpp"
#include "net/late_wake_ups.hpp"
#include "net/waiter.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::memory {
namespace {

void refuse(bool when, const char* what) {
  if (when)
    throw failure{errc::unsupported, std::string{what} + " is for servers, not for memory:"};
}

}  // namespace

memory_engine::memory_engine(const std::string& table, const client_options& options)
    : engine(options), table_(lock_table::named(table)), inbox_(std::make_shared<inbox>(helper())) {
  refuse(options.min_replicas > 0, "min_replicas");
  refuse(options.detect_deadlocks, "detect_deadlocks");
  refuse(options.quarantine > milliseconds{0}, "quarantine");
  helper().start({&timers(), inbox_.get()});
}

// Its thread attends to what is gone afterwards.
memory_engine::~memory_engine() { helper().stop(); }

void memory_engine::shut_down() noexcept {
  local_locks().revoke_all();
  wait_until_quiet();
  helper().stop();
  while (inbox_->deliver()) continue;  // answers without which requests would live for ever
  inbox_->close();
  timers().shut_down();
  callbacks().stop();
}

void memory_engine::check(const runtime::lock_spec& spec) const {
  refuse(spec.foreign != nullptr, "a dialect");
  refuse(spec.is_gate, "a latch or barrier");
}

std::shared_ptr<runtime::lock_driver> memory_engine::make_driver(
    std::shared_ptr<const runtime::lock_spec> spec, leasing::patience patience, bool may_stop,
    runtime::local_lock* local) {
  auto made = std::make_shared<memory_lock>(*this, spec, patience, may_stop, local);
  if (spec->changes() != nullptr) {
    const scoped_mutex lock(mutex_);
    std::erase_if(changes_, [](const auto& each) { return each.expired(); });
    changes_.push_back(made);
  }
  return made;
}

void memory_engine::prepare_to_drive() const { net::late_wake_ups::prepare(); }

void memory_engine::only_sleep::drive(net::waiter& who) noexcept {
  while (!who.is_finished()) who.sleep();
}

void memory_engine::expect_revoke(const request_id& request,
                                  const std::shared_ptr<runtime::local_lock>& by) {
  const scoped_mutex lock(mutex_);
  retained_.insert_or_assign(request.counter(), by);
}

void memory_engine::expect_no_revoke(const request_id& request) {
  const scoped_mutex lock(mutex_);
  retained_.erase(request.counter());
}

void memory_engine::revoke(const request_id& request) {
  std::shared_ptr<runtime::local_lock> by;
  {
    const scoped_mutex lock(mutex_);
    const auto known = retained_.find(request.counter());
    if (known != retained_.end()) by = known->second.lock();
  }
  if (by) by->revoke();
}

memory_engine* find_engine(runtime::engine& of) noexcept {
  return dynamic_cast<memory_engine*>(&of);
}

void memory_engine::wake_changes_of(const runtime::lock_driver& held) {
  std::vector<std::shared_ptr<memory_lock>> all;
  {
    const scoped_mutex lock(mutex_);
    for (const auto& each : changes_) {
      auto one = each.lock();
      if (one && one->spec().changes() == &held) all.push_back(std::move(one));
    }
  }
  for (const auto& one : all) one->on_woken();
}

}  // namespace holdfast::memory
