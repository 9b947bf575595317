// Mode locks.
//
//   mode_lock.hpp: the table (modes.hpp); "Waiters get the lock in the order of arrival. [...] A
//     holder that changes its mode goes before clients that hold nothing yet."
//   mode_lock.hpp, change: "Another lock. When it is acquired, its holder has the mode `to` in the
//     place of `held`. `held` stays held until then [...]. `lost` when `held` had ended. [...]
//     `would_deadlock` when this holder wants more than it has, and another holder already waits to
//     change its mode until this one gives up what it has."
//   kinds.md: "Suppose that a change waits until another holder gives up its mode. If that holder
//     then asks for more than it has, neither could go on [...]. So the second is told
//     `would_deadlock` at once." "A holder that wants less than it has waits for nobody."
#include "reference/held_kind.hpp"
#include "support/options_for.hpp"

namespace holdfast::reference {
namespace {

class mode_lock_rules final : public held_kind {
 public:
  std::string family() const override { return "read-write"; }  // the same lock
  lock_kind shown() const override { return lock_kind::mode_lock; }
  want any(run& choices) override { return {mode{choices.below(6)}, 0}; }
  bool admits(const std::vector<want>& held, const want& asked) const override {
    return all_go_together(held, asked);
  }
  bool passed_on(const want& asked, const terms& how) const override {
    return asked.in == mode::ex && !how.fair;
  }
  lock to_hold(const client& by, const std::string& name, const want& asked,
               const terms& how) const override {
    return by.mode_lock(name, support::options_for<mode_lock_options>(options_of(how)))
        .in(public_mode(asked.in));
  }
  std::vector<want> changes_of(const want& from) const override {
    std::vector<want> all;
    for (const auto to : {mode::nl, mode::cr, mode::cw, mode::pr, mode::pw, mode::ex}) {
      if (to != from.in) all.push_back({to, 0});
    }
    return all;
  }
  lock to_change(const client& by, const std::string& name, const lease& held, const want&,
                 const want& to, const terms& how) const override {
    return by.mode_lock(name, support::options_for<mode_lock_options>(options_of(how)))
        .change(held, public_mode(to.in));
  }
};

}  // namespace

std::unique_ptr<held_kind> mode_lock_kind(run&) { return std::make_unique<mode_lock_rules>(); }

}  // namespace holdfast::reference
