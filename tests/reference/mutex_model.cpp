// Mutexes: plain and fair, without tokens, and kept by their clients.
//
//   client.hpp: "A lock that one holder at a time can have."
//   guarantees.md, S1: "In one server's history a lock has at most one holder at any instant."
//   guarantees.md, S2: "Each grant of a lock has a larger fencing token than every grant before it"
//   kinds.md: "fair: waiters of all processes get it in strict order of arrival." "passed on: local
//     hand-over. The threads and coroutines of one client hand it over among themselves, without
//     the server [...]. So clients get it in order, and every thread eventually."
//   options.hpp, fencing::off: "No token: one plain SET instead of a script."
//   options.hpp, retain: "How long the client may keep the lock after the last release [...].
//     Not with `fair` or `renewal::none`. [...] Another client that waits for the lock gets it at
//     once. A client that asks once is refused, but finds the lock free when it asks again."
//   options.hpp, reentry::refused: "`errc::would_deadlock` at once."; "A call that asks once gets
//     `busy`."
//   options.hpp, queue_limit: "How many may wait in the queue on the server; the next gets
//     `queue_full`. [...] Zero: nobody may wait."
#include "reference/held_kind.hpp"

namespace holdfast::reference {
namespace {

class mutex_rules : public held_kind {
 public:
  std::string family() const override { return "mutex"; }
  lock_kind shown() const override { return lock_kind::mutex; }
  want any(run&) override { return {mode::ex, 0}; }
  bool admits(const std::vector<want>& held, const want&) const override { return held.empty(); }
  lock to_hold(const client& by, const std::string& name, const want&,
               const terms& how) const override {
    return by.mutex(name, options_of(how));
  }
  bool refuses_reentry() const override { return true; }
};

class plain_set_rules final : public mutex_rules {
 public:
  lock to_hold(const client& by, const std::string& name, const want&,
               const terms& how) const override {
    auto options = options_of(how);
    options.fencing = fencing::off;
    return by.mutex(name, options);
  }
  bool has_token() const override { return false; }
};

class retained_rules final : public mutex_rules {
 public:
  bool retains() const override { return true; }
};

}  // namespace

std::unique_ptr<held_kind> mutex_kind(run&) { return std::make_unique<mutex_rules>(); }
std::unique_ptr<held_kind> plain_set_kind(run&) { return std::make_unique<plain_set_rules>(); }
std::unique_ptr<held_kind> retained_kind(run&) { return std::make_unique<retained_rules>(); }

}  // namespace holdfast::reference
