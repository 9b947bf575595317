#include <holdfast/lease.hpp>

#include <utility>

#include "api/checks.hpp"
#include "base/never_destroyed.hpp"
#include "runtime/client_core.hpp"
#include "runtime/holding.hpp"

namespace holdfast {

lease::lease(std::shared_ptr<runtime::client_core> core, runtime::grant&& got) noexcept
    : core_(std::move(core)), holding_(std::move(got.of)), token_(got.token) {}

lease::lease(lease&& other) noexcept
    : core_(std::move(other.core_)),
      holding_(std::move(other.holding_)),
      token_(std::exchange(other.token_, 0)),
      released_(other.released_),
      has_note_(std::exchange(other.has_note_, false)) {}

lease& lease::operator=(lease&& other) noexcept {
  if (this != &other) {
    give_up();
    holding_ = std::move(other.holding_);  // before its client goes, which may be with this
    core_ = std::move(other.core_);
    token_ = std::exchange(other.token_, 0);
    released_ = other.released_;
    has_note_ = std::exchange(other.has_note_, false);
  }
  return *this;
}

lease::~lease() { give_up(); }

// Releases without waiting. In the child of a fork the lock is the parent's: nothing is sent.
void lease::give_up() noexcept {
  if (!is_ours()) return;
  released_ = true;
  if (!core_->engine().is_in_its_process()) return;
  forget_note();
  holding_->give_back({});
}

// Before the lock is given back: its next holder may be a thread of this client, under the same
// grant.
void lease::forget_note() noexcept {
  if (std::exchange(has_note_, false)) holding_->set_note({});
}

const std::string& lease::name() const noexcept {
  static const never_destroyed<std::string> none;
  return holding_ ? holding_->name() : *none;
}

fencing_token lease::token() const noexcept { return fencing_token{token_}; }

std::chrono::milliseconds lease::remaining() const noexcept {
  return std::chrono::floor<std::chrono::milliseconds>(is_ours() ? holding_->remaining()
                                                                 : std::chrono::nanoseconds{0});
}

bool lease::held() const noexcept { return is_ours() && holding_->held(); }

lease_mode lease::mode() const noexcept {
  // Before held(), so that it does not come from a time after a loss.
  const auto mode = is_ours() ? holding_->mode() : lease_mode::none;
  return held() ? mode : lease_mode::none;
}

std::stop_token lease::lost() const {
  if (!is_ours()) return {};
  core_->check_process();
  return holding_->lost();
}

result<void> lease::release() {
  if (!is_ours()) return {};
  core_->check_process();
  core_->engine().prepare_to_drive();
  released_ = true;
  forget_note();
  return holding_->give_back_and_wait();
}

detail::release_awaitable lease::async_release() {
  return detail::release_awaitable{detail::release_operation{*this}};
}

result<void> lease::extend(std::chrono::milliseconds duration) {
  api::check_lease(duration, "the duration");
  if (!is_ours()) return errc::lost;
  core_->check_process();
  return holding_->extend(duration);
}

void lease::set_note(std::string_view text) {
  constexpr std::size_t longest = 256;
  if (text.size() > longest) {
    throw failure{errc::invalid_argument, "a note has at most 256 bytes"};
  }
  if (!is_ours()) return;
  core_->check_process();
  if (!held()) return;
  if (!holding_->set_note(text)) {
    throw failure{errc::unsupported,
                  "this lock can have no note: only Holdfast's own, on one server"};
  }
  has_note_ = !text.empty();
}

}  // namespace holdfast
