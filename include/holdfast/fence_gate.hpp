/// \file
/// Refusing late writers at a resource that is not Redis.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/fencing_token.hpp>

namespace holdfast {

/// Whether a write was let through; not to be overlooked. Thread safety: a value type.
struct [[nodiscard]] fence_verdict {
  bool accepted = false;  ///< False: stale, a newer token was accepted before.
  fencing_token last;     ///< The largest token accepted, also when it is this one.
  /// Whether the write was let through.
  explicit operator bool() const noexcept { return accepted; }
};

/// Stands before resources (files, devices, services) and lets no writer through whose token is
/// older than one that was let through before. The first writer is always let through.
///
/// It remembers in memory, so it belongs into the one process that owns the resource. A resource
/// that several processes reach must keep the last token itself, with the data and changed in the
/// same step (`client::fenced_set`; examples/fence_in_postgresql.cpp).
///
/// A writer that is told `stale` has lost its lock. If the writer's own client shall never be
/// granted such a token again, call `client::raise_floor(lock name, verdict.last)`.
///
/// Cost: no commands. About 100 bytes of memory for each resource, until `forget`.
///
/// Thread safety: one object may be used from any number of threads.
class fence_gate {
 public:
  /// Lets the writer through if its token is not older than the last.
  /// Throws `failure{errc::unsupported}` when there is no token: without one nobody can tell which
  /// writer is late.
  ///
  /// For a resource to which one thread at a time writes. Otherwise a newer writer may pass between
  /// this call and the write: see the other form.
  fence_verdict admit(std::string_view resource, fencing_token token) {
    return admit(resource, token, [] {});
  }

  /// Also calls `write`, before any other writer is let through to any resource of this gate.
  template <typename Write>
  fence_verdict admit(std::string_view resource, fencing_token token, Write&& write) {
    (void)token.value();
    const std::lock_guard lock(guard_);
    auto at = last_.find(resource);
    if (at == last_.end()) at = last_.emplace(resource, token).first;
    if (token < at->second) return {false, at->second};
    at->second = token;
    std::forward<Write>(write)();
    return {true, token};
  }

  /// The largest token let through; none when no writer was.
  [[nodiscard]] fencing_token last(std::string_view resource) const {
    const std::lock_guard lock(guard_);
    const auto at = last_.find(resource);
    return at == last_.end() ? fencing_token{} : at->second;
  }

  /// For a resource that is gone. A late writer may then write to one of the same name.
  void forget(std::string_view resource) {
    const std::lock_guard lock(guard_);
    if (const auto at = last_.find(resource); at != last_.end()) last_.erase(at);
  }

 private:
  mutable std::mutex guard_;
  std::map<std::string, fencing_token, std::less<>> last_;
};

}  // namespace holdfast
