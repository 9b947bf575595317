#include <holdfast/client.hpp>
#include <holdfast/recursive_mutex.hpp>

#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "base/identity.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/recursive_source.hpp"

namespace holdfast {
namespace {

const std::shared_ptr<runtime::local_lock>& lock_of(const lock& one) {
  return static_cast<const runtime::recursive_source&>(*detail::lock_access::source(one)).local();
}

lock wanted_by(const std::shared_ptr<runtime::client_core>& core,
               const std::shared_ptr<runtime::local_lock>& local, identity who) {
  return detail::lock_access::make(core, std::make_shared<runtime::recursive_source>(local, who));
}

}  // namespace

owner::owner() noexcept : id_(new_identity()) {}

recursive_mutex client::recursive_mutex(std::string_view name,
                                        const recursive_mutex_options& options,
                                        const dialect& how) const {
  return holdfast::recursive_mutex{
      wanted_by(core_, api::make_recursive_lock(core_, name, api::in_full(options), how), 0)};
}

lock recursive_mutex::of(const owner& who) const {
  return wanted_by(detail::lock_access::core(inner()), lock_of(inner()), who.id_);
}

std::size_t recursive_mutex::hold_count() const {
  return runtime::hold_count(*lock_of(inner()), this_thread());
}

std::size_t recursive_mutex::hold_count(const owner& who) const {
  return runtime::hold_count(*lock_of(inner()), who.id_);
}

}  // namespace holdfast
