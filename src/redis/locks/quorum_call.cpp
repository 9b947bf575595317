#include "redis/locks/quorum_call.hpp"

#include <algorithm>
#include <utility>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"

namespace holdfast::redis_locks {
namespace {

// A member that answers this soon is worth waiting for.
constexpr microseconds soon{1000};

// The server's time, where a refusal tells it.
std::optional<server_time> time_in(const resp::value& reply) {
  const bool is_late = reply.is(resp::type::array) && reply.items.size() == 2 &&
                       reply.items[0].is_text() && reply.items[0].text == "late";
  if (!is_late) return std::nullopt;
  return server_time{microseconds{reply.items[1].number}};
}

}  // namespace

quorum_call::quorum_call(const std::shared_ptr<asker>& who, interest theirs, question asks)
    : asks_(std::move(asks)),
      who_(who),
      kept_(theirs == interest::lasting ? who : nullptr),
      not_after_(net::now() + at().options().response_timeout) {
  asks_.claim.at_group = at().follows_sentinels();
}

void quorum_call::submit(const std::shared_ptr<asker>& who, interest theirs, question asks,
                         redis::connection::delivery how) {
  auto* const call = new quorum_call(who, theirs, std::move(asks));
  call->connection().submit(*call, how);
}

void quorum_call::write(resp::writer& out, monotonic_time sent_at) {
  const auto left = std::max(nanoseconds{0}, not_after_ - sent_at);
  const auto not_after =
      leasing::not_after(clock().at(sent_at), std::chrono::duration_cast<milliseconds>(left));
  const auto& claim = asks_.claim;
  const auto longest = group().longest_lease();
  const auto& recipe = *asks_.spec->recipe;
  using substrate::newcomer;
  switch (asks_.asks) {
    case what::vote:
      return recipe.write_acquire(claim, newcomer::tells, longest, not_after, out);
    case what::join:
      return recipe.write_acquire(claim, newcomer::joins, longest, not_after, out);
    case what::enter:
      return recipe.write_acquire(claim, newcomer::enters, longest, not_after, out);
    case what::stay_out:
      return recipe.write_acquire(claim, newcomer::waits, longest, not_after, out);
    case what::agree:
    case what::keep:
      return recipe.write_keep(claim, asks_.asks == what::keep, longest, not_after, out);
    case what::release:
    case what::leave:
      return recipe.write_release(claim, asks_.asks == what::release, out);
  }
}

void quorum_call::on_reply(resp::value& reply) {
  const std::unique_ptr<quorum_call> self(this);
  if (const auto said = time_in(reply)) clock().learn(sent_at(), net::now(), *said);
  if (net::now() - sent_at() < soon) group().set_slow(asks_.member, false);
  group().set_silent(asks_.member, false);
  if (const auto who = who_.lock()) who->on_answer(asks_, reply, sent_at());
}

void quorum_call::on_failed(no_answer how, const redis::breakdown& why) {
  const std::unique_ptr<quorum_call> self(this);
  group().set_silent(asks_.member, true);
  if (const auto who = who_.lock()) who->on_missing(asks_, how, why);
}

}  // namespace holdfast::redis_locks
