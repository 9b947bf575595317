// Semaphores.
//
//   semaphore.hpp: "Waiters get their permits in the order of arrival, whatever they ask for. So a
//     waiter that wants many permits is not overtaken for ever by waiters that want one. Never are
//     more permits in use than there are. Every grant has a fencing token."
//   semaphore.hpp, set_permits: "Sets how many permits there are, for all processes, until it is
//     set again. It may be set while the semaphore is in use: permits in use stay so, and waiters
//     come in when there are more. Zero: the number is no longer set, and each process goes by its
//     own `semaphore_options::permits`."
//   lock.hpp: "`invalid_argument` (more permits than there are)"
#include <algorithm>

#include "reference/held_kind.hpp"

namespace holdfast::reference {
namespace {

class semaphore_rules final : public held_kind {
 public:
  explicit semaphore_rules(std::uint32_t permits) : own_(permits), now_(permits) {}

  std::string family() const override { return "semaphore"; }
  lock_kind shown() const override { return lock_kind::semaphore; }
  want any(run& choices) override {
    return {mode::ex, static_cast<std::uint32_t>(choices.between(1, std::max(1U, now_)))};
  }
  bool admits(const std::vector<want>& held, const want& asked) const override {
    std::uint64_t used = asked.permits;
    for (const auto& one : held) used += one.permits;
    return used <= now_;
  }
  bool passed_on(const want&, const terms&) const override { return false; }
  lock to_hold(const client& by, const std::string& name, const want& asked,
               const terms& how) const override {
    return by
        .semaphore(name, {.permits = own_,
                          .lease = how.lease,
                          .renewal = how.fixed ? renewal::none : renewal::automatic,
                          .queue_limit = how.queue_limit})
        .permits(asked.permits);
  }
  std::uint32_t permits() const override { return now_; }
  bool can_be_resized() const override { return true; }
  void resize(std::uint32_t count) override { now_ = count == 0 ? own_ : count; }

 private:
  std::uint32_t own_, now_;
};

}  // namespace

std::unique_ptr<held_kind> semaphore_kind(run& choices) {
  return std::make_unique<semaphore_rules>(static_cast<std::uint32_t>(choices.between(1, 6)));
}

}  // namespace holdfast::reference
