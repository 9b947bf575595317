// Locks that live in this process: who holds them and who waits for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/mutex.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::memory {

// What a request hears unasked.
struct handed_over {
  substrate::granted grant;
  monotonic_time at;
};
struct first_in_line {
  nanoseconds owner_has;
};
struct asked_again {};  // what it wants to change has ended: it shall ask
struct wanted {};       // what it holds may be retained, and others want it
using news = std::variant<handed_over, first_in_line, asked_again, wanted>;

// Of one request. Is called under the table's mutex: it only writes down what it hears.
class ear {
 public:
  virtual ~ear() = default;
  virtual void hear(const news& what) = 0;
  virtual bool is_gone() const noexcept = 0;
};

// One lock. First come, first served; who changes what he holds goes before those who hold nothing.
// Time is given; not thread-safe.
class lock_record {
 public:
  // The tokens of all locks of a table come from `counter`.
  explicit lock_record(substrate::token_major& counter) : counter_(counter) {}

  substrate::acquire_verdict acquire(const substrate::claim& wants, const std::shared_ptr<ear>& who,
                                     monotonic_time now);
  substrate::renew_verdict renew(const substrate::claim& held, monotonic_time now);
  substrate::release_verdict release(const substrate::claim& held, monotonic_time now);
  substrate::release_verdict withdraw(const substrate::claim& wants, monotonic_time now);
  bool is_unused() const noexcept { return holders_.empty() && queue_.empty(); }

  // Those who hold it and those who wait, in their order.
  struct request {
    request_id owner;
    substrate::demand how;
    bool is_alone = false;  // of a mutex
    std::shared_ptr<ear> who{};
  };
  struct holder : request {
    substrate::token_major token = 0;
    monotonic_time until{};
    std::shared_ptr<holder> before{};  // which it has replaced
  };
  struct waiter : request {
    milliseconds lease{};
    milliseconds delay{};
    std::uint64_t ticket = 0;
  };
  const std::list<holder>& holders(monotonic_time now) {
    drop_ended(now);
    return holders_;
  }
  const std::deque<waiter>& queue() const noexcept { return queue_; }
  // Takes it from all who have it.
  void free(monotonic_time now) {
    holders_.clear();
    serve(now);
  }

 private:
  void drop_ended(monotonic_time now);
  holder* find(const request_id& owner) noexcept;
  std::optional<substrate::refused> refusal_of(const substrate::claim& wants) noexcept;
  bool fits(const request& one) const noexcept;
  holder& take(const request& one, monotonic_time until);
  void serve(monotonic_time now);
  bool deadlocks(const request& one) noexcept;
  std::optional<substrate::refused> join(const substrate::claim& wants, const request& one);
  nanoseconds remaining(monotonic_time now) const noexcept;
  void ask_back();

  substrate::token_major& counter_;
  std::list<holder> holders_;
  std::deque<waiter> queue_;
  std::uint64_t tickets_ = 0;
};

// All locks of one name `memory:NAME`.
struct lock_table {
  mutex guard;
  substrate::token_major counter HOLDFAST_GUARDED_BY(guard) = 0;
  std::atomic<std::uint64_t> position{0};  // of what was said last
  std::map<std::string, lock_record> locks HOLDFAST_GUARDED_BY(guard);

  // The same for all clients of this process, while any of them lives.
  static std::shared_ptr<lock_table> named(const std::string& name);
};

}  // namespace holdfast::memory
