#include <holdfast/inspector.hpp>

#include <utility>

#include "doctor/diagnosis.hpp"
#include "inspection/all_dialects.hpp"
#include "inspection/audit.hpp"
#include "inspection/audit_reading.hpp"
#include "inspection/client_listing.hpp"
#include "inspection/foreign_break.hpp"
#include "inspection/foreign_search.hpp"
#include "inspection/foreign_status.hpp"
#include "inspection/listing.hpp"
#include "inspection/native_status.hpp"
#include "inspection/registry.hpp"
#include "memory/status.hpp"
#include "runtime/client_core.hpp"

namespace holdfast {

namespace {

list_options with_stop(runtime::client_core& of, list_options options) {
  options.stop = of.engine().stop_of_call(std::move(options.stop));
  return options;
}

}  // namespace

inspector::inspector(client redis) : redis_(std::move(redis)) {}

lock_status inspector::status(std::string_view name) const {
  auto& core = *redis_.core_;
  core.check_process();
  if (auto* const here = runtime::find_engine<memory::memory_engine>(core.engine()))
    return memory::status_of(*here, name);
  inspection::known_clients known(core);
  return inspection::status_of(core, core.engine().key_of(name), known);
}

lock_status inspector::status(std::string_view name, const dialect& how) const {
  if (how == dialect{}) return status(name);
  return inspection::foreign_status(*redis_.core_, name, how);
}

lock_listing inspector::list(std::string_view pattern, const list_options& options) const {
  return inspection::list(*redis_.core_, pattern, with_stop(*redis_.core_, options));
}

lock_listing inspector::list_all_dialects(std::string_view pattern,
                                          const list_options& options) const {
  return inspection::list_all_dialects(*redis_.core_, pattern, with_stop(*redis_.core_, options));
}

client_listing inspector::list_clients(const list_options& options) const {
  return inspection::list_clients(*redis_.core_, with_stop(*redis_.core_, options));
}

audit_report inspector::audit(std::string_view pattern, std::chrono::milliseconds how_long) const {
  return inspection::read_audit(*redis_.core_, pattern, how_long);
}

std::vector<lock_status> inspector::find_foreign(std::string_view name) const {
  return inspection::find_foreign(*redis_.core_, name);
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason) const {
  auto& core = *redis_.core_;
  core.check_process();
  if (auto* const here = runtime::find_engine<memory::memory_engine>(core.engine())) {
    return memory::break_lock(*here, name);
  }
  auto broken = inspection::break_native(core, core.engine().key_of(name));
  inspection::record_break(core, reason, broken);
  return broken;
}

lock_status inspector::break_lock(std::string_view name, std::string_view reason,
                                  const dialect& how) const {
  if (how == dialect{}) return break_lock(name, reason);
  return inspection::break_foreign(*redis_.core_, name, reason, how);
}

std::vector<finding> inspector::diagnose() const { return doctor::diagnose(redis_, *redis_.core_); }

}  // namespace holdfast
