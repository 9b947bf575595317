#include "memory/memory_engine.hpp"

#include <holdfast/errc.hpp>

#include "memory/memory_lock.hpp"
#include "net/late_wake_ups.hpp"
#include "net/waiter.hpp"

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
  refuse(!options.audit.empty(), "audit");
  refuse(options.quarantine > milliseconds{0}, "quarantine");
  helper().start({&timers(), inbox_.get()});
}

// Its thread uses members that are destroyed afterwards.
memory_engine::~memory_engine() { helper().stop(); }

void memory_engine::shut_down() noexcept {
  local_locks().revoke_all();
  wait_until_quiet();
  helper().stop();
  inbox_->close();  // without its last answers requests would live for ever
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
  return std::make_shared<memory_lock>(*this, std::move(spec), patience, may_stop, local);
}

void memory_engine::prepare_to_drive() const { net::late_wake_ups::prepare(); }

void memory_engine::drive(net::waiter& who) noexcept {
  while (!who.is_finished()) who.sleep();
}

}  // namespace holdfast::memory
