#include "redis/locks/notes.hpp"

#include <chrono>
#include <new>
#include <utility>

#include "redis/locks/redis_engine.hpp"

namespace holdfast::redis_locks {
namespace {

// The registration prolongs the entry every minute.
constexpr milliseconds lives_at_least = std::chrono::minutes{2};
constexpr std::size_t most_wanted = 1'000;

}  // namespace

notes::notes(redis_engine& owner) : engine_(owner), place_(owner.space(), owner.id().text()) {}

void notes::set(const lock_key& lock, substrate::token_major major,
                std::string_view text) noexcept {
  try {
    dialects::note_change change{dialects::note_field(lock, major), std::string(text)};
    {
      const scoped_mutex guard(mutex_);
      if (wanted_.size() == most_wanted) return;
      wanted_.push_back(std::move(change));
      if (std::exchange(is_under_way_, true)) return;
    }
    send_next();
  } catch (const std::bad_alloc&) {
    // Nothing depends on it.
  }
}

void notes::send_next() {
  {
    const scoped_mutex guard(mutex_);
    sent_.clear();
    std::swap(sent_, wanted_);
    is_under_way_ = !sent_.empty();
    if (!is_under_way_) return;
  }
  engine_.connection(place_.slot).submit(*this, redis::connection::delivery::lazy);
}

void notes::write(resp::writer& out, monotonic_time) {
  dialects::write_notes(place_, sent_, lives_at_least, out);
}

void notes::on_reply(resp::value&) { send_next(); }

void notes::on_failed(no_answer, const redis::breakdown&) {
  const scoped_mutex guard(mutex_);
  wanted_.clear();
  is_under_way_ = false;
}

}  // namespace holdfast::redis_locks
