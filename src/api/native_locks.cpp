#include "api/native_locks.hpp"

#include <string>
#include <utility>

#include "api/checks.hpp"
#include "base/printable.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/foreign_latch.hpp"
#include "redis/dialects/holdfast/gate.hpp"
#include "redis/locks/foreign_place.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/lock_driver.hpp"

namespace holdfast::api {
namespace {

using detail::lock_access;

runtime::lock_spec spec_of(runtime::client_core& core, std::string_view name,
                           const mutex_options& options) {
  core.check_process();
  const auto lease = options.lease.value_or(core.engine().options().default_lease);
  check_lease(lease, "lease");
  check_retain(options);
  check_lock_delay(options.lock_delay);
  return {.key = core.engine().key_of(name),
          .recipe = &dialects::native_mutex(options.fencing),
          .lease = std::chrono::duration_cast<short_milliseconds>(lease),
          .retain = std::chrono::duration_cast<short_milliseconds>(options.retain),
          .delay = std::chrono::duration_cast<short_milliseconds>(options.lock_delay),
          .queue_limit = options.queue_limit,
          .renews = options.renewal == renewal::automatic,
          .fair = options.fair,
          .fenced = options.fencing == fencing::on,
          .refuses_reentry = options.reentry == reentry::refused};
}

// As `foreign` writes it, wherever this client's servers are.
void write_as(std::shared_ptr<const dialects::foreign_recipe> foreign, runtime::client_core& core,
              runtime::lock_spec& spec) {
  const std::string& name = spec.key.name();
  redis_locks::check_place(core, *foreign, name);
  if (auto other = redis_locks::engine_of(core).is_cluster() ? foreign->in_cluster() : nullptr) {
    foreign = std::move(other);
  }
  spec.key = lock_key{name, foreign->key_of(name)};
  spec.recipe = foreign.get();
  spec.usual = redis_locks::usage_of(*foreign);
  spec.foreign = std::move(foreign);
}

// Of a lock that is written in this way.
runtime::lock_spec spec_in_layout(runtime::client_core& core, std::string_view name,
                                  mutex_options options, const dialect& how,
                                  std::shared_ptr<const dialects::foreign_recipe> foreign) {
  check_foreign(options, how);
  const auto& usual = foreign->usual();
  refuse(options.fencing == fencing::off && usual.has_tokens,
         "fencing::off is not possible in a layout that has tokens: all its users get them");
  if (!options.lease) options.lease = usual.lease;
  options.fencing = usual.has_tokens ? fencing::on : fencing::off;
  auto spec = spec_of(core, name, options);
  dialects::check_longest_lease(*foreign, spec.lease);
  if (spec.lease < usual.at_least) {
    throw failure{errc::invalid_argument, "at_least_for must not be longer than the lease"};
  }
  spec.delay = usual.surplus;
  write_as(std::move(foreign), core, spec);
  return spec;
}

// Of a lock that only one can hold.
runtime::lock_spec spec_in_dialect(runtime::client_core& core, std::string_view name,
                                   mutex_options options, const dialect& how) {
  const auto& foreign = lock_access::recipe(how);
  if (!foreign) return spec_of(core, name, options);
  if (foreign->is_semaphore()) {
    throw failure{errc::unsupported,
                  "the dialect " + std::string(how.name()) +
                      " is a semaphore's: ask for permits (client::semaphore, or --permits 1/4)"};
  }
  const auto in_order = options.fair ? foreign->fair() : nullptr;
  if (in_order) options.fair = false;  // so that it is not refused
  auto spec = spec_in_layout(core, name, options, how, in_order ? in_order : foreign);
  spec.fair = in_order != nullptr;
  return spec;
}

lock lock_of(const std::shared_ptr<runtime::client_core>& core, runtime::lock_spec spec) {
  auto& engine = core->engine();
  return lock_access::make(core, engine.local_locks().find_or_make(engine, std::move(spec)));
}

// A lock that several can hold.
runtime::lock_spec shared_spec(runtime::client_core& core, std::string_view name,
                               const mutex_options& options, substrate::demand wants) {
  auto spec = spec_of(core, name, options);
  spec.recipe = &dialects::native_shared_lock();
  spec.wants = std::make_shared<const substrate::demand>(std::move(wants));
  return spec;
}

// Of what is waited for and not held.
runtime::lock_spec gate_spec(runtime::client_core& core, std::string_view name,
                             const dialects::recipe& how) {
  auto spec = spec_of(core, name, {.lease = dialects::gate_lease, .renewal = renewal::none});
  spec.recipe = &how;
  spec.refuses_reentry = false;
  spec.is_gate = true;
  return spec;
}

const runtime::lock_spec& spec_of(const lock& of) {
  return static_cast<const runtime::local_lock&>(*lock_access::source(of)).spec();
}

// In this layout, or else in Holdfast's own.
lock make_shared_in(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                    const mutex_options& options, const dialect& how,
                    std::shared_ptr<const dialects::foreign_recipe> foreign,
                    substrate::demand wants) {
  if (!foreign) {
    check_native(how);
    return make_shared_lock(core, name, options, std::move(wants));
  }
  auto spec = spec_in_layout(*core, name, options, how, std::move(foreign));
  spec.wants = std::make_shared<const substrate::demand>(std::move(wants));
  return lock_of(core, std::move(spec));
}

}  // namespace

lock make_mutex(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                const mutex_options& options, const dialect& how) {
  return lock_of(core, spec_in_dialect(*core, name, options, how));
}

std::shared_ptr<runtime::local_lock> make_recursive_lock(
    const std::shared_ptr<runtime::client_core>& core, std::string_view name,
    const mutex_options& options, const dialect& how) {
  auto spec = spec_in_dialect(*core, name, options, how);
  spec.refuses_reentry = false;
  spec.recursive = true;
  auto& engine = core->engine();
  return engine.local_locks().find_or_make(engine, std::move(spec));
}

lock make_reader(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                 const mutex_options& options, const dialect& how) {
  const auto& of = lock_access::recipe(how);
  auto foreign = of ? of->read_write() : nullptr;
  if (!foreign) {
    check_native(how);
    auto spec = shared_spec(*core, name, options, {.mode = 'r'});
    // The search for deadlocks needs a lease for each thread, not one that readers share.
    spec.joins = spec.renews && !spec.fair && core->engine().deadlocks() == nullptr;
    return lock_of(core, std::move(spec));
  }
  return make_shared_in(core, name, options, how, std::move(foreign), {.mode = 'r'});
}

lock make_semaphore(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                    const mutex_options& options, const dialect& how, substrate::demand wants) {
  const auto& of = lock_access::recipe(how);
  auto foreign = of && !of->is_semaphore() ? of->semaphore() : of;
  return make_shared_in(core, name, options, how, std::move(foreign), std::move(wants));
}

lock make_shared_lock(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                      const mutex_options& options, substrate::demand wants) {
  return lock_of(core, shared_spec(*core, name, options, std::move(wants)));
}

const substrate::demand& demand_of(const lock& which) { return *spec_of(which).wants; }

const lock_key& key_of(const lock& which) { return spec_of(which).key; }

const dialects::foreign_recipe* foreign_of(const lock& which) {
  return spec_of(which).foreign.get();
}

lock make_alike(const lock& like, substrate::demand wants) {
  auto spec = spec_of(like);
  spec.joins = false;
  spec.wants = std::make_shared<const substrate::demand>(std::move(wants));
  return lock_of(lock_access::core(like), std::move(spec));
}

std::shared_ptr<runtime::lock_driver> driver_of(const lock& like, const lease& held,
                                                std::string_view in, const char* which) {
  auto driver = std::dynamic_pointer_cast<runtime::lock_driver>(lock_access::holding(held));
  const auto& spec = spec_of(like);
  const bool is_of_it = driver && &driver->owner() == &lock_access::core(like)->engine() &&
                        driver->spec().recipe == spec.recipe && driver->name() == spec.key.name();
  if (is_of_it && in.find(driver->spec().wants->mode) != std::string_view::npos) return driver;
  throw failure{errc::invalid_argument,
                "the lease is not one of the lock '" + printable(spec.key.name()) + "'" + which};
}

lock make_change(const lock& like, const lease& held, std::string_view from, char to) {
  const auto driver = driver_of(like, held, from, " in a mode that can be changed so");
  auto spec = spec_of(like);
  spec.joins = false;
  const substrate::demand wants{.mode = to, .replaced = driver->claim().owner};
  spec.wants = std::make_shared<const runtime::change>(runtime::change{wants, driver});
  const auto& core = lock_access::core(like);
  return lock_access::make(core,
                           std::make_shared<runtime::local_lock>(core->engine(), std::move(spec)));
}

lock make_latch(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
                const dialect& how) {
  const auto& of = lock_access::recipe(how);
  if (!of) return make_gate(core, name, dialects::native_latch());
  auto foreign = of->latch();
  if (!foreign) check_native(how);
  auto spec = gate_spec(*core, name, *foreign);
  write_as(std::move(foreign), *core, spec);
  return lock_of(core, std::move(spec));
}

lock make_gate(const std::shared_ptr<runtime::client_core>& core, std::string_view name,
               const dialects::recipe& how, std::shared_ptr<const substrate::demand> wants) {
  auto spec = gate_spec(*core, name, how);
  spec.wants = std::move(wants);
  return lock_of(core, std::move(spec));
}

}  // namespace holdfast::api
