#include "redis/locks/joint_request.hpp"

#include <algorithm>
#include <utility>

#include "lease/server_clock.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/mutex.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

// The time that each lock adds there to that of the command: 3 to 4 us of a server that has its
// processor for itself (bench/README.md, all_of8).
constexpr microseconds at_the_server{5};

}  // namespace

bool joint_request::can_have(const lock_spec& spec) noexcept {
  return spec.recipe == &dialects::native_mutex(fencing::on);
}

void joint_request::add(std::shared_ptr<lock_driver> member) noexcept {
  members_.push_back(std::static_pointer_cast<redis_lock>(std::move(member)));
}

void joint_request::submit(std::unique_ptr<joint_request> all, net::waiter* sleeper,
                           redis::connection::delivery how) {
  if (all == nullptr || all->members_.empty()) return;
  auto& self = *all.release();
  self.set_sleeper(sleeper);
  if (sleeper != nullptr) sleeper->expect_longer(self.members_.size() * at_the_server);
  self.engine_.connection(self.slot()).submit(self, how);
}

std::uint16_t joint_request::slot() const noexcept { return members_.front()->slot(); }

void joint_request::cancel() {
  for (const auto& member : members_) {
    member->on_failed(no_answer::not_sent, {errc::busy, {}});
  }
  members_.clear();
}

void joint_request::write(resp::writer& out, monotonic_time sent_at) {
  std::vector<const substrate::claim*> claims;
  auto left = nanoseconds::max();
  for (const auto& member : members_) {
    claims.push_back(&member->claim_);
    left = std::min(left, std::max(nanoseconds{0}, member->outgoing_.not_after - sent_at));
  }
  if (members_.front()->outgoing_.what == leasing::ask::release) {
    return dialects::write_release_all(claims, out);
  }
  const bool held_back = sent_at < engine_.quarantine_ends();
  for (const auto& member : members_) member->outgoing_.held_back = held_back;
  if (held_back) return dialects::write_nothing(out);
  const auto sent = engine_.clock(slot()).at(sent_at);
  const auto whole = std::chrono::duration_cast<milliseconds>(left);
  dialects::write_acquire_all(claims, leasing::not_after(sent, whole), out);
}

// Either an answer for each, or one for all: that it came too late, or an error. If the locks may
// not be given back together, they are given back one by one.
void joint_request::on_reply(resp::value& reply) {
  const std::unique_ptr<joint_request> self(this);
  const bool is_release = members_.front()->outgoing_.what == leasing::ask::release;
  if (is_release && reply.is(resp::type::error)) {
    reply.kind = resp::type::integer;
    reply.number = 2;  // as release_all.lua says it of one
  }
  const bool for_each = reply.is(resp::type::array) && reply.items.size() == members_.size() &&
                        !reply.items.front().is_text();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto answer = for_each ? std::move(reply.items[i]) : reply;
    members_[i]->take_from(*this);
    members_[i]->on_reply(answer);
  }
}

void joint_request::on_failed(no_answer what, const redis::breakdown& why) {
  const std::unique_ptr<joint_request> self(this);
  for (const auto& member : members_) member->on_failed(what, why);
}

}  // namespace holdfast::redis_locks
