#include "redis/connection/login_source.hpp"

#include <poll.h>

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "base/printable.hpp"
#include "base/random_bits.hpp"
#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/descriptor.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::redis {
namespace {

constexpr std::size_t longest_trouble = 400;

std::string failed(std::string_view thrown) {
  return "client_options::credentials failed: " + printable(thrown, longest_trouble);
}

}  // namespace

login_source::login_source(std::function<login()> asked)
    : callback_(std::move(asked)), schedule_(random_bits<std::uint32_t>()) {}

// ---- what connections ask ----------------------------------------------------------------------

std::optional<breakdown> login_source::find(monotonic_time deadline, credentials& into) {
  const uncancelled meanwhile;
  std::unique_lock lock(guard_);
  if (auto none_left = start_thread()) return breakdown{errc::unavailable, *none_left};
  const auto answers_before = answers_;
  wait(lock, 0, deadline);
  into.trouble = trouble_;
  if (number_ == 0) {
    if (is_closed_) return breakdown{errc::unavailable, "the client was closed"};
    if (answers_ != answers_before) return breakdown{errc::authentication, trouble_};
    return breakdown{errc::unavailable,
                     "client_options::credentials has not given a login within connect_timeout"};
  }
  if (!known_.username.empty()) into.username = known_.username;
  into.password = known_.password;
  into.number = number_;
  return std::nullopt;
}

bool login_source::replace(monotonic_time deadline, credentials& last) {
  const uncancelled meanwhile;
  std::unique_lock lock(guard_);
  if (number_ == last.number && refused_ != last.number) return false;  // it was something else
  wait(lock, last.number, deadline);
  last.trouble = trouble_;
  if (number_ == last.number) return false;
  const bool is_other = known_.password != last.password ||
                        (!known_.username.empty() && known_.username != last.username);
  if (!known_.username.empty()) last.username = known_.username;
  last.password = known_.password;
  last.number = number_;
  return is_other;
}

bool login_source::is_good(std::uint64_t after, monotonic_time now) const {
  return number_ > after && number_ != refused_ && now < ends_;
}

// Until there is one with a larger number than `after`, or the callback has given none.
void login_source::wait(std::unique_lock<std::mutex>& lock, std::uint64_t after,
                        monotonic_time deadline) {
  const auto now = net::now();
  if (is_closed_ || is_good(after, now)) return;
  schedule_.want(now);
  wake_up_.signal();
  const auto answers_before = answers_;
  changed_.wait_for(lock, std::max(nanoseconds{0}, deadline - now),
                    [&] { return is_closed_ || answers_ != answers_before; });
}

credentials login_source::newest() {
  const std::lock_guard lock(guard_);
  return {.username = known_.username, .password = known_.password, .number = number_};
}

std::uint64_t login_source::newest_number() {
  const std::lock_guard lock(guard_);
  return number_;
}

void login_source::accepted(std::uint64_t number) {
  const std::lock_guard lock(guard_);
  if (number == number_) schedule_.on_accepted();
}

// Several connections may hear it of one login.
bool login_source::refused(std::uint64_t number) {
  const std::lock_guard lock(guard_);
  if (number != number_ || number == refused_) return false;
  refused_ = number;
  schedule_.on_failed(net::now());
  wake_up_.signal();
  return true;
}

void login_source::refused(std::uint64_t number, const std::string& server,
                           const std::string& why) {
  if (refused(number)) tell_failed(server, why);
}

// ---- those who hear of it ----------------------------------------------------------------------

void login_source::join(login_hearer& one) {
  const scoped_mutex lock(hearers_guard_);
  hearers_.push_back(&one);
}

void login_source::leave(const login_hearer& one) {
  const scoped_mutex lock(hearers_guard_);
  std::erase(hearers_, &one);
}

void login_source::tell_new() {
  const scoped_mutex lock(hearers_guard_);
  for (auto* const one : hearers_) one->on_new_login();
}

void login_source::tell_failed(const std::string& server, const std::string& why) {
  const scoped_mutex lock(hearers_guard_);
  for (auto* const one : hearers_) one->on_login_failed(server, why);
}

// ---- the thread that asks ----------------------------------------------------------------------

std::optional<std::string> login_source::start_thread() {
  if (has_thread_ || is_closed_) return std::nullopt;
  try {
    net::quiet_thread("holdfast-logins", [self = shared_from_this()] { self->run(); }).detach();
    has_thread_ = true;
    return std::nullopt;
  } catch (const std::system_error& none_left) {
    return "no thread can be started to ask for a login: " + none_left.code().message();
  }
}

void login_source::run() {
  for (;;) {
    auto at = monotonic_time::max();
    {
      const std::lock_guard lock(guard_);
      if (is_closed_) break;
      at = schedule_.ask_at();
    }
    if (net::now() >= at) {
      if (!ask()) return;
      continue;
    }
    at == monotonic_time::max() ? alarm_.clear() : alarm_.set(at);
    pollfd polled[] = {{wake_up_.fd(), POLLIN, 0}, {alarm_.fd(), POLLIN, 0}};
    ::poll(polled, std::size(polled), -1);
    wake_up_.clear();
  }
  callback_ = nullptr;  // what it owns goes on this thread, and before the client's end if possible
  const std::lock_guard lock(guard_);
  has_thread_ = false;
  changed_.notify_all();
}

// False: the callback has forked, and this is the child. All here is the parent's.
bool login_source::ask() {
  const auto process = net::process_generation();
  const auto asked_at = net::now();
  const auto said = ask_callback();
  if (process != net::process_generation()) return false;
  take(said, asked_at);
  if (said.trouble.empty()) {
    tell_new();
  } else {
    tell_failed({}, said.trouble);
  }
  return true;
}

login_source::answer login_source::ask_callback() const {
  try {
    auto given = callback_();
    if (given.password.empty()) return {{}, failed("it gave no password")};
    if (given.valid_for < milliseconds{0}) return {{}, failed("its login has ended already")};
    return {std::move(given), {}};
  } catch (const std::exception& thrown) {
    return {{}, failed(thrown.what())};
  } catch (...) {
    return {{}, failed("it threw something that is no std::exception")};
  }
}

void login_source::take(const answer& said, monotonic_time asked_at) {
  const std::lock_guard lock(guard_);
  const auto now = net::now();
  ++answers_;
  trouble_ = said.trouble;
  if (said.trouble.empty()) {
    known_ = said.given;
    ++number_;
    ends_ = asked_at + std::min(said.given.valid_for, net::longest_wait);
    if (said.given.valid_for == milliseconds{0}) ends_ = monotonic_time::max();
    schedule_.on_given(asked_at, now, said.given.valid_for);
  } else {
    schedule_.on_failed(now);
  }
  changed_.notify_all();
}

void login_source::close(monotonic_time deadline) noexcept {
  const uncancelled meanwhile;
  {
    const scoped_mutex lock(hearers_guard_);
    hearers_.clear();
  }
  std::unique_lock lock(guard_);
  is_closed_ = true;
  changed_.notify_all();
  wake_up_.signal();
  changed_.wait_for(lock, std::max(nanoseconds{0}, deadline - net::now()),
                    [this] { return !has_thread_; });
}

}  // namespace holdfast::redis
