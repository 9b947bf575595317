#include "redis/locks/trail.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/glob.hpp"
#include "net/clock.hpp"
#include "net/host_name.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::redis_locks {
namespace {

// Until the connection may be there again.
constexpr milliseconds again_after{1'000};

// Of a server that refuses: its user may have no right to the trail.
constexpr auto quiet_after_refusal = std::chrono::minutes{10};

constexpr std::size_t most_wanted = 10'000;

dialects::trail_event event_of(event_type what) noexcept {
  if (what == event_type::granted) return dialects::trail_event::granted;
  return what == event_type::lost ? dialects::trail_event::lost : dialects::trail_event::released;
}

}  // namespace

trail::trail(redis_engine& owner, net::background_thread& helper)
    : engine_(owner),
      helper_(helper),
      place_(owner.space(), "trail"),
      author_{net::host_name(), ::getpid(), owner.options().name, std::string(owner.id().text())} {}

void trail::note(const event& what, const runtime::holding& of,
                 monotonic_time granted_at) noexcept {
  const auto now = net::now();
  try {
    const auto& pattern = engine_.options().audit;
    const auto take = [&](std::string_view name, lock_kind kind, std::uint64_t token) {
      if (!matches(pattern, name)) return;
      const scoped_mutex guard(mutex_);
      add({.what = event_of(what.type),
           .name = std::string(name),
           .kind = kind,
           .token = token,
           .error = what.error,
           .granted_at = granted_at,
           .at = now});
    };
    of.tell_own_locks(engine_, what.token ? what.token.value() : 0, take);
  } catch (const std::bad_alloc&) {
    const scoped_mutex guard(mutex_);
    ++missed_;
  }
  send_if_due(now);
}

void trail::add(dialects::trail_note entry) {
  if (wanted_.size() == most_wanted || entry.at < quiet_until_) {
    ++missed_;
  } else {
    wanted_.push_back(std::move(entry));
  }
}

bool trail::is_due(monotonic_time now) const {
  if (is_under_way_ || (wanted_.empty() && sent_.empty())) return false;
  const bool is_full = sent_.empty() && wanted_.size() >= dialects::trail_batch;
  return is_ending_ || now >= next_at_ || is_full;
}

// False: there is no memory for it now.
bool trail::take_batch(monotonic_time now) {
  try {
    if (!sent_.empty()) return true;  // it goes again
    const auto many = std::min(wanted_.size(), dialects::trail_batch - 1);
    sent_.reserve(many + 1);
    const auto end = wanted_.begin() + static_cast<std::ptrdiff_t>(many);
    if (missed_ > 0) {
      sent_.push_back({.what = dialects::trail_event::missed,
                       .granted_at = now,
                       .at = now,
                       .many = std::exchange(missed_, 0)});
    }
    std::move(wanted_.begin(), end, std::back_inserter(sent_));
    wanted_.erase(wanted_.begin(), end);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// What waits for a command is sent by the background thread: it is woken at the right time.
void trail::send_if_due(monotonic_time now) {
  {
    const scoped_mutex guard(mutex_);
    if (!is_due(now) || !take_batch(now)) {
      if (!is_under_way_ && !(wanted_.empty() && sent_.empty())) helper_.wake_at(next_at_);
      return;
    }
    is_under_way_ = true;
    next_at_ = now + trail_pause;
  }
  engine_.began();
  engine_.connection(place_.slot).submit(*this, redis::connection::delivery::lazy);
}

void trail::end() noexcept {
  {
    const scoped_mutex guard(mutex_);
    is_ending_ = true;
  }
  send_if_due(net::now());
}

net::attendant::interest trail::wants(monotonic_time) {
  const scoped_mutex guard(mutex_);
  interest wanted;
  if (!is_under_way_ && !(wanted_.empty() && sent_.empty())) wanted.at = next_at_;
  return wanted;
}

void trail::attend(short, monotonic_time now) { send_if_due(now); }

void trail::write(resp::writer& out, monotonic_time sent_at) {
  dialects::write_trail(place_, author_, sent_, sent_at, out);
}

// A server that refuses would refuse it again.
void trail::on_reply(resp::value& reply) {
  const auto refusal = dialects::read_trail_written(reply);
  {
    const scoped_mutex guard(mutex_);
    if (refusal) missed_ += sent_.size();
    sent_.clear();
    if (refusal && refusal->code == errc::permission_denied) {
      quiet_until_ = net::now() + quiet_after_refusal;
      missed_ += wanted_.size();
      wanted_.clear();
    }
  }
  settled();
}

// The batch stays in `sent_`. The server may have it already: readers take an entry once.
void trail::on_failed(no_answer, const redis::breakdown&) {
  {
    const scoped_mutex guard(mutex_);
    next_at_ = net::now() + again_after;
    if (is_ending_) {
      sent_.clear();
      wanted_.clear();
    }
  }
  settled();
}

void trail::settled() {
  {
    const scoped_mutex guard(mutex_);
    is_under_way_ = false;
  }
  send_if_due(net::now());
  engine_.ended();
}

}  // namespace holdfast::redis_locks
