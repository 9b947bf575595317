// Read-write locks.
//
//   kinds.md: "The lock has any number of readers, or one writer. Waiters get it in the order of
//     arrival. [...] A reader that arrives while a writer waits stands behind it."
//   kinds.md: "Beside readers there may be one `upgradeable()` holder. `rw.upgrade(held)` is
//     another `lock`. When it is acquired, by any verb, its holder is the writer in the place of
//     `held`. Until then, and if it fails, `held` stays as it is. [...] A plain reader cannot be
//     upgraded [...]. `rw.downgrade(held)` lets waiting readers in at once."
//   read_write_lock.hpp, upgrade: "It waits until the readers have left, and new ones wait behind
//     it. `held` stays held until then, and also when the lock is not obtained. Afterwards `held`
//     says "not held", without a loss. [...] `lost` when `held` had ended. Throws
//     `failure{invalid_argument}` when `held` is not an upgradeable lease of this lock."
//   read_write_lock.hpp, downgrade: "As `upgrade`, from writer or upgradeable holder to reader,
//   which
//     never waits."
//   kinds.md: "With `fair`, `renewal::none` or `detect_deadlocks` each reader asks for itself."
#include "reference/held_kind.hpp"
#include "support/options_for.hpp"

namespace holdfast::reference {
namespace {

class read_write_rules final : public held_kind {
 public:
  std::string family() const override { return "read-write"; }
  lock_kind shown() const override { return lock_kind::mode_lock; }

  want any(run& choices) override {
    static const std::vector<mode> modes{mode::pr, mode::pr, mode::pr, mode::ex, mode::u, mode::u};
    return {choices.one_of(modes), 0};
  }

  bool admits(const std::vector<want>& held, const want& asked) const override {
    return all_go_together(held, asked);
  }

  // Readers who join each other share a grant: one for each client keeps the model simple.
  bool passed_on(const want& asked, const terms& how) const override {
    if (asked.in == mode::u) return false;
    return !how.fair && !(asked.in == mode::pr && how.fixed);
  }

  lock to_hold(const client& by, const std::string& name, const want& asked,
               const terms& how) const override {
    const auto rw =
        by.read_write_lock(name, support::options_for<read_write_options>(options_of(how)));
    if (asked.in == mode::pr) return rw.shared();
    return asked.in == mode::ex ? rw.exclusive() : rw.upgradeable();
  }

  std::vector<want> changes_of(const want& from) const override {
    if (from.in == mode::u) return {{mode::ex, 0}, {mode::ex, 0}, {mode::pr, 0}};
    if (from.in == mode::ex) return {{mode::pr, 0}};
    return {};
  }

  std::optional<want> refused_change(const want& from) const override {
    if (from.in == mode::pr) return want{mode::ex, 0};
    return std::nullopt;
  }

  lock to_change(const client& by, const std::string& name, const lease& held, const want&,
                 const want& to, const terms& how) const override {
    const auto rw =
        by.read_write_lock(name, support::options_for<read_write_options>(options_of(how)));
    return to.in == mode::ex ? rw.upgrade(held) : rw.downgrade(held);
  }
};

}  // namespace

std::unique_ptr<held_kind> read_write_kind(run&) { return std::make_unique<read_write_rules>(); }

}  // namespace holdfast::reference
