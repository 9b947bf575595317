// The inside of a lease: a lock, or several, that this client has.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/lease_mode.hpp>
#include <holdfast/lock_kind.hpp>
#include <holdfast/result.hpp>

#include "base/time.hpp"
#include "runtime/listener.hpp"

namespace holdfast::runtime {

class engine;

// Thread safety: all members from any thread.
class holding {
 public:
  holding() = default;
  holding(const holding&) = delete;
  holding& operator=(const holding&) = delete;
  virtual ~holding() = default;

  virtual const std::string& name() const noexcept = 0;
  virtual bool held() const noexcept = 0;
  // While it is held.
  virtual lease_mode mode() const noexcept = 0;
  virtual nanoseconds remaining() const noexcept = 0;
  virtual std::stop_token lost() = 0;
  // It is not held since another request of ours came in its place: that is no loss.
  virtual bool was_replaced() const noexcept { return false; }
  virtual result<void> extend(milliseconds duration) = 0;
  // What the grant is for, told to whoever looks at the lock; empty: nothing any more. Does not
  // wait. False: such a lock can have no note.
  virtual bool set_note(std::string_view text) noexcept = 0;
  // Tells each lock of Holdfast's own that this is, if the client with this engine keeps it on one
  // server: of what it tells there can be an audit trail. `token`: that of the whole.
  using telling = std::function<void(std::string_view name, lock_kind kind, std::uint64_t token)>;
  virtual void tell_own_locks(const engine&, std::uint64_t, const telling&) const {}

  // Gives it back, once. The listener is told once, when take_released() may be called; nobody is
  // told when this is false, and all is done.
  virtual bool give_back(const listener& who) = 0;
  virtual result<void> take_released() = 0;
  // As above, and waits for the answer.
  virtual result<void> give_back_and_wait() = 0;
};

struct grant {
  std::shared_ptr<holding> of;
  std::uint64_t token = 0;  // 0: none
  bool waited = false;      // it was not to be had at once
};

// Calls `keep`, which takes note of the grant. Where there is no memory for that, it goes back.
template <typename Keep>
void keep_or_give_back(const grant& got, Keep&& keep) {
  try {
    keep();
  } catch (const std::bad_alloc&) {
    got.of->give_back({});
    throw;
  }
}

}  // namespace holdfast::runtime
