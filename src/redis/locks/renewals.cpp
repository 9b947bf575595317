#include "redis/locks/renewals.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"

namespace holdfast::redis_locks {
namespace {

// One command for up to recipe::renew_batch leases of one recipe, in a cluster of one hash slot.
// Owns itself until answered.
class renewal_batch final : public redis::request {
 public:
  static void submit(redis_engine& owner, std::vector<std::shared_ptr<redis_lock>> members) {
    auto& made = *new renewal_batch(owner, std::move(members));
    owner.connection(made.slot()).submit(made, redis::connection::delivery::prompt);
  }

 private:
  renewal_batch(redis_engine& owner, std::vector<std::shared_ptr<redis_lock>> members)
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
    if (claims_.empty()) return dialects::write_nothing(out);
    const auto sent = engine_.clock(slot()).at(sent_at);
    const auto not_after = leasing::not_after(sent, engine_.options().response_timeout);
    recipe().write_renew(claims_, not_after, out);
  }

  void on_reply(resp::value& reply) override {
    const std::unique_ptr<renewal_batch> self(this);
    const bool is_half_moved = reply.is(resp::type::error) && reply.text.starts_with("TRYAGAIN");
    if (is_half_moved && members_.size() > 1) return ask_one_by_one();
    const auto received_at = net::now();
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const auto verdict = recipe().read_renew(reply, i);
      if (const auto* late = std::get_if<substrate::late>(&verdict); late != nullptr && i == 0) {
        engine_.clock(slot()).learn(sent_at(), received_at, late->now);
      }
      asked_[i]->on_renewed(verdict, sent_at());
    }
  }

  void on_failed(no_answer, const redis::breakdown&) override {
    const std::unique_ptr<renewal_batch> self(this);
    for (const auto& member : members_) member->on_renewal_missing();
  }

  // Some of the locks are at the node that their slot leaves, some at the one that gets it. Either
  // answers a request with one key.
  void ask_one_by_one() {
    for (const auto& member : members_) submit(engine_, {member});
  }

  std::uint16_t slot() const noexcept { return members_.front()->spec().key.slot(); }
  const dialects::recipe& recipe() const noexcept { return *members_.front()->spec().recipe; }

  redis_engine& engine_;
  const std::vector<std::shared_ptr<redis_lock>> members_;
  std::vector<redis_lock*> asked_;
  std::vector<const substrate::claim*> claims_;
};

}  // namespace

void renewals::add(std::shared_ptr<redis_lock> due) {
  {
    const std::lock_guard lock(mutex_);
    due_.push_back(std::move(due));
  }
  helper_.wake();
}

net::attendant::interest renewals::wants(monotonic_time now) {
  const std::lock_guard lock(mutex_);
  interest wanted;
  if (!due_.empty()) wanted.at = now;
  return wanted;
}

void renewals::attend(short, monotonic_time) {
  std::vector<std::shared_ptr<redis_lock>> due;
  {
    const std::lock_guard lock(mutex_);
    due.swap(due_);
  }
  if (due.empty()) return;
  engine_.register_client(milliseconds{0});
  const bool is_cluster = engine_.is_cluster();
  const auto group_of = [is_cluster](const auto& t) {
    return std::pair{t->spec().recipe, is_cluster ? t->spec().key.slot() : std::uint16_t{0}};
  };
  std::ranges::stable_sort(due, {}, group_of);
  for (auto first = due.begin(); first != due.end();) {
    auto last = first;
    while (last != due.end() && group_of(*last) == group_of(*first) &&
           last - first < static_cast<std::ptrdiff_t>(dialects::recipe::renew_batch)) {
      ++last;
    }
    renewal_batch::submit(engine_, {std::make_move_iterator(first), std::make_move_iterator(last)});
    first = last;
  }
}

}  // namespace holdfast::redis_locks
