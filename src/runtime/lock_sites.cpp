#include "runtime/lock_sites.hpp"

#include <functional>
#include <string>
#include <utility>

#include "runtime/lock_site.hpp"

namespace holdfast::runtime {

std::size_t lock_sites::hash::operator()(const lock_spec& spec) const noexcept {
  return std::hash<std::string>{}(spec.key.name());
}

std::size_t lock_sites::hash::operator()(const lock_site* site) const noexcept {
  return (*this)(site->spec());
}

bool lock_sites::equal::operator()(const lock_site* a, const lock_site* b) const noexcept {
  return a->spec() == b->spec();
}
bool lock_sites::equal::operator()(const lock_site* a, const lock_spec& b) const noexcept {
  return a->spec() == b;
}
bool lock_sites::equal::operator()(const lock_spec& a, const lock_site* b) const noexcept {
  return a == b->spec();
}

std::shared_ptr<lock_site> lock_sites::find_or_make(engine& owner, lock_spec spec) {
  std::shared_ptr<lock_site> made;  // should it not be told here, it ends when nothing is locked
  const scoped_mutex lock(mutex_);
  const auto known = sites_.find(spec);
  if (known != sites_.end()) {
    if (auto alive = (*known)->find_alive()) return alive;
    sites_.erase(known);  // it is being destroyed and waits for the mutex
  }
  made = std::make_shared<lock_site>(owner, std::move(spec));
  sites_.insert(made.get());
  return made;
}

void lock_sites::remove(lock_site& leaving) noexcept {
  const scoped_mutex lock(mutex_);
  const auto known = sites_.find(leaving.spec());
  if (known != sites_.end() && *known == &leaving) sites_.erase(known);
}

std::vector<std::shared_ptr<lock_site>> lock_sites::alive() {
  std::vector<std::shared_ptr<lock_site>> all;
  const scoped_mutex lock(mutex_);
  for (auto* const site : sites_) {
    if (auto one = site->find_alive()) all.push_back(std::move(one));
  }
  return all;
}

void lock_sites::revoke_all() {
  for (const auto& site : alive()) site->revoke();
}

void lock_sites::raise_floor(std::string_view name, substrate::token_major seen) {
  for (const auto& site : alive()) {
    if (site->name() == name) site->raise_floor(seen);
  }
}

}  // namespace holdfast::runtime
