#include "runtime/renewals.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {
namespace {

// One command for up to recipe::renew_batch leases of one recipe. Owns itself until answered.
class renewal_batch final : public redis::request {
 public:
  renewal_batch(engine& owner, std::vector<std::shared_ptr<tenure>> members)
      : engine_(owner), members_(std::move(members)) {}

  // Leases that were released since they became due are left out: there is no renewal after a
  // release, not even one that waited for a connection.
  void write(resp::writer& out, monotonic_time sent_at) override {
    claims_.clear();
    asked_.clear();
    for (const auto& member : members_) {
      if (!member->wants_renewal()) continue;
      asked_.push_back(member.get());
      claims_.push_back(&member->claim());
    }
    if (claims_.empty()) {
      out.command(1);
      out.arg("PING");
      return;
    }
    const moment sent{sent_at, engine_.estimate(sent_at)};
    const auto not_after = leasing::not_after(sent, engine_.options().response_timeout);
    recipe().write_renew(claims_, not_after, out);
  }

  void on_reply(resp::value& reply) override {
    const std::unique_ptr<renewal_batch> self(this);
    const auto received_at = net::now();
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto verdict = recipe().read_renew(reply, i);
      if (const auto* late = std::get_if<dialects::late>(&verdict); late != nullptr && i == 0) {
        engine_.learn_time(sent_at(), received_at, late->now);
      }
      asked_[i]->on_renewed(verdict, sent_at());
    }
  }

  void on_failed(redis::fate, const redis::breakdown&) override {
    const std::unique_ptr<renewal_batch> self(this);
    for (const auto& member : members_) member->on_renewal_missing();
  }

 private:
  const dialects::recipe& recipe() const noexcept { return *members_.front()->spec().recipe; }

  engine& engine_;
  const std::vector<std::shared_ptr<tenure>> members_;
  std::vector<tenure*> asked_;
  std::vector<const dialects::claim*> claims_;
};

}  // namespace

void renewals::add(std::shared_ptr<tenure> due) {
  const std::lock_guard lock(mutex_);
  due_.push_back(std::move(due));
}

net::attendant::interest renewals::wants(monotonic_time now) {
  const std::lock_guard lock(mutex_);
  interest wanted;
  if (!due_.empty()) wanted.at = now;
  return wanted;
}

void renewals::attend(short, monotonic_time) {
  std::vector<std::shared_ptr<tenure>> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(due_);
  }
  if (due.empty()) return;
  engine_.register_client();
  const auto recipe_of = [](const auto& t) { return t->spec().recipe; };
  std::ranges::stable_sort(due, {}, recipe_of);
  for (auto first = due.begin(); first != due.end();) {
    auto last = first;
    while (last != due.end() && recipe_of(*last) == recipe_of(*first) &&
           last - first < static_cast<std::ptrdiff_t>(dialects::recipe::renew_batch)) {
      ++last;
    }
    std::vector<std::shared_ptr<tenure>> members(std::make_move_iterator(first),
                                                 std::make_move_iterator(last));
    auto* const batch = new renewal_batch(engine_, std::move(members));
    engine_.connection().submit(*batch, redis::connection::delivery::prompt);
    first = last;
  }
}

}  // namespace holdfast::runtime
