#include "redis/locks/held_index.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "net/clock.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::redis_locks {
namespace {

// A client that has lived for less is likely to end soon.
constexpr milliseconds first_sampled_after{1'000};

// Of a server that refuses: its user may have no right to the index.
constexpr auto quiet_after_refusal = std::chrono::minutes{10};

// More than that are written down when their next time comes.
constexpr std::size_t most_noted = 100'000;

}  // namespace

held_index::held_index(redis_engine& owner, net::background_thread& helper)
    : engine_(owner),
      helper_(helper),
      place_(owner.space()),
      sampled_at_((net::now() + first_sampled_after).time_since_epoch().count()) {}

// Without memory the name is dropped: the index for operators must not end a holder.
void held_index::add(const lock_key& lock, milliseconds at_most, bool is_released) noexcept {
  try {
    const scoped_mutex guard(mutex_);
    if (noted_.size() == most_noted || net::now() < quiet_until_) return;
    noted_.push_back({lock.name(), at_most, is_released});
    if (is_under_way_) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  helper_.wake();
}

void held_index::take_sample(const lock_key& lock, monotonic_time now) {
  auto due = sampled_at_.load(std::memory_order_relaxed);
  const auto next = (now + sampled_every).time_since_epoch().count();
  const bool is_ours = now.time_since_epoch().count() >= due &&
                       sampled_at_.compare_exchange_strong(due, next, std::memory_order_relaxed);
  if (is_ours) note(lock, 2 * sampled_every);
}

net::attendant::interest held_index::wants(monotonic_time now) {
  const scoped_mutex guard(mutex_);
  interest wanted;
  if (!noted_.empty() && !is_under_way_) wanted.at = now;
  return wanted;
}

void held_index::attend(short, monotonic_time) {
  {
    const scoped_mutex guard(mutex_);
    if (noted_.empty() || is_under_way_) return;
    is_under_way_ = true;
    const auto many = std::min(noted_.size(), dialects::held_batch);
    const auto end = noted_.begin() + static_cast<std::ptrdiff_t>(many);
    sent_.assign(std::move_iterator{noted_.begin()}, std::move_iterator{end});
    noted_.erase(noted_.begin(), end);
  }
  engine_.connection(place_.slot).submit(*this, redis::connection::delivery::lazy);
}

void held_index::write(resp::writer& out, monotonic_time) {
  dialects::write_held(place_, sent_, out);
}

void held_index::on_reply(resp::value& reply) {
  const auto refusal = dialects::read_held_written(reply);
  const bool is_forbidden = refusal && refusal->code == errc::permission_denied;
  end(is_forbidden ? net::now() + quiet_after_refusal : monotonic_time{});
}

void held_index::on_failed(no_answer, const redis::breakdown&) { end({}); }

void held_index::end(monotonic_time quiet_until) {
  {
    const scoped_mutex guard(mutex_);
    is_under_way_ = false;
    quiet_until_ = quiet_until;
    if (quiet_until != monotonic_time{}) noted_.clear();
    if (noted_.empty()) return;
  }
  helper_.wake();
}

}  // namespace holdfast::redis_locks
