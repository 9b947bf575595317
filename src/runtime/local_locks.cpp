#include "runtime/local_locks.hpp"

#include <functional>
#include <string>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/local_lock.hpp"

namespace holdfast::runtime {

std::size_t local_locks::hash::operator()(const lock_spec& spec) const noexcept {
  return std::hash<std::string>{}(spec.key.name());
}

std::size_t local_locks::hash::operator()(const local_lock* local) const noexcept {
  return (*this)(local->spec());
}

bool local_locks::equal::operator()(const local_lock* a, const local_lock* b) const noexcept {
  return a->spec() == b->spec();
}
bool local_locks::equal::operator()(const local_lock* a, const lock_spec& b) const noexcept {
  return a->spec() == b;
}
bool local_locks::equal::operator()(const lock_spec& a, const local_lock* b) const noexcept {
  return a == b->spec();
}

std::shared_ptr<local_lock> local_locks::find_or_make(engine& owner, lock_spec spec) {
  owner.check(spec);
  std::shared_ptr<local_lock> made;  // should it not be told here, it ends when nothing is locked
  const scoped_mutex lock(mutex_);
  const auto known = locals_.find(spec);
  if (known != locals_.end()) {
    if (auto alive = (*known)->find_alive()) return alive;
    locals_.erase(known);  // it is being destroyed and waits for the mutex
  }
  made = std::make_shared<local_lock>(owner, std::move(spec));
  locals_.insert(made.get());
  return made;
}

void local_locks::remove(local_lock& leaving) noexcept {
  const scoped_mutex lock(mutex_);
  const auto known = locals_.find(leaving.spec());
  if (known != locals_.end() && *known == &leaving) locals_.erase(known);
}

std::vector<std::shared_ptr<local_lock>> local_locks::alive() {
  std::vector<std::shared_ptr<local_lock>> all;
  const scoped_mutex lock(mutex_);
  for (auto* const local : locals_) {
    if (auto one = local->find_alive()) all.push_back(std::move(one));
  }
  return all;
}

void local_locks::revoke_all() {
  for (const auto& local : alive()) local->revoke();
}

void local_locks::raise_floor(std::string_view name, substrate::token_major seen) {
  for (const auto& local : alive()) {
    if (local->name() == name) local->raise_floor(seen);
  }
}

}  // namespace holdfast::runtime
