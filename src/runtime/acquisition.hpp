// One call that wants a lock, from asking to having it or not.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <variant>

#include "runtime/lock_site.hpp"

namespace holdfast::runtime {

// Thread safety: one thread at a time.
class acquisition {
 public:
  using outcome = std::variant<grant, leasing::acquire_outcome>;

  explicit acquisition(std::shared_ptr<lock_site> of) : site_(std::move(of)) {}

  // True: it has ended already and the listener will not be told. Otherwise he is told when look()
  // is worth it; a continuation is told once, when it has ended.
  bool begin(leasing::patience patience, std::stop_token stop, const listener& who);

  // How it has ended. Nothing: it has not; a thread sleeps on.
  std::optional<outcome> look();

  // What the thread that waits sleeps on.
  redis::waiter& sleeper() noexcept { return *sleeper_; }

  // As tenure::abandon.
  bool abandon();

 private:
  std::shared_ptr<lock_site> site_;
  std::shared_ptr<tenure> asks_;
  std::shared_ptr<local_waiter> waits_;
  std::optional<outcome> ended_;
  redis::waiter* sleeper_ = nullptr;
};

}  // namespace holdfast::runtime
