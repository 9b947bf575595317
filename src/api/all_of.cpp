#include <holdfast/all_of.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/printable.hpp"
#include "runtime/client_core.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_access.hpp"
#include "several/all_of_source.hpp"
#include "several/joint_holding.hpp"

namespace holdfast {
namespace {

using detail::lock_access;

// Where everybody sees the same locks. A private server is its client's alone, and each tenant has
// locks of its own.
auto place_of(const lock& one) {
  const auto& core = lock_access::core(one);
  const void* const alone = core->url() == "embedded:" ? core.get() : nullptr;
  return std::tuple<const std::string&, const void*, const std::string&, const std::string&>{
      core->url(), alone, core->engine().space().prefix(), one.name()};
}

// The parts of an all_of are parts like others, so that there is one order.
void add(several::lock_list& all, lock&& one) {
  const auto& source = lock_access::source(one);
  if (const auto* inner = dynamic_cast<const several::all_of_source*>(source.get())) {
    all.insert(all.end(), inner->parts().begin(), inner->parts().end());
    return;
  }
  const auto* local = dynamic_cast<const runtime::local_lock*>(source.get());
  if (local != nullptr && local->spec().changes() != nullptr) {
    throw failure{errc::invalid_argument, "'" + printable(one.name()) +
                                              "' changes what is held, and could not be given "
                                              "back with the other parts of all_of"};
  }
  all.push_back(std::move(one));
}

}  // namespace

lock all_of(std::vector<lock> locks) {
  if (locks.empty()) throw failure{errc::invalid_argument, "all_of needs at least one lock"};
  several::lock_list all;
  for (auto& one : locks) add(all, std::move(one));
  const auto is_before = [](const lock& a, const lock& b) { return place_of(a) < place_of(b); };
  std::ranges::sort(all, is_before);
  const auto same = std::ranges::adjacent_find(
      all, [](const lock& a, const lock& b) { return place_of(a) == place_of(b); });
  if (same != all.end()) {
    throw failure{errc::invalid_argument, "the lock '" + printable(same->name()) +
                                              "' is there twice and would wait for itself"};
  }
  const auto core = lock_access::core(all.front());
  return lock_access::make(core, std::make_shared<several::all_of_source>(std::move(all)));
}

std::vector<held_part> parts(const lease& held) {
  const auto* const all =
      dynamic_cast<const several::joint_holding*>(lock_access::holding(held).get());
  if (all != nullptr) return all->list();
  return {{held.name(), held.token(), held.mode()}};
}

}  // namespace holdfast
