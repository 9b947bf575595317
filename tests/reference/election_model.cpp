// Elections.
//
//   election.hpp: "It is a fair mutex. To hold it is to lead. Candidates wait in the order in which
//     they came. The lease is renewed while the leader lives [...]. To release the lease is to
//     resign; the next candidate leads at once."
//   kinds.md: "`leader()` says who leads now (two commands)."
#include "reference/held_kind.hpp"

namespace holdfast::reference {
namespace {

class election_rules final : public held_kind {
 public:
  std::string family() const override { return "mutex"; }
  lock_kind shown() const override { return lock_kind::mutex; }
  want any(run&) override { return {mode::ex, 0}; }
  bool admits(const std::vector<want>& held, const want&) const override { return held.empty(); }
  bool has_terms() const override { return false; }
  bool passed_on(const want&, const terms&) const override { return false; }
  lock to_hold(const client& by, const std::string& name, const want&,
               const terms& how) const override {
    return by.election(name, {.lease = how.lease, .queue_limit = how.queue_limit});
  }
};

}  // namespace

std::unique_ptr<held_kind> election_kind(run&) { return std::make_unique<election_rules>(); }

}  // namespace holdfast::reference
