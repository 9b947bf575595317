#include "runtime/quorum_group.hpp"

#include <algorithm>
#include <utility>

#include "net/quiet_thread.hpp"

namespace holdfast::runtime {

quorum_group::quorum_group(std::vector<std::shared_ptr<client_core>> members,
                           milliseconds longest_lease)
    : members_(std::move(members)),
      longest_lease_(longest_lease),
      slow_(std::make_unique<std::atomic<bool>[]>(members_.size())) {
  for (const auto& each : members_) {
    names_.push_back(each->url());
    response_timeout_ = std::max(response_timeout_, each->engine().options().response_timeout);
  }
}

// The last answer may have come on a thread of a member's, which closing that client waits for.
quorum_group::~quorum_group() {
  if (!is_in_its_process() || !net::is_quiet_thread()) return;
  net::quiet_thread("holdfast-close", [last = std::move(members_)]() mutable {
    last.clear();
  }).detach();
}

bool quorum_group::hears() const noexcept {
  return std::ranges::any_of(members_, [](const auto& each) { return each->engine().hears(); });
}

void quorum_group::set_slow(std::size_t member, bool slow) noexcept {
  if (slow_[member].load(std::memory_order_relaxed) != slow) slow_[member].store(slow);
}

void quorum_group::began(const std::shared_ptr<quorum_errand>& one) {
  const std::lock_guard lock(guard_);
  under_way_.emplace(one.get(), one);
  ++undecided_;
}

void quorum_group::decided() noexcept {
  const std::lock_guard lock(guard_);
  if (--undecided_ == 0) quiet_.notify_all();
}

void quorum_group::ended(const quorum_errand& one) noexcept {
  const std::lock_guard lock(guard_);
  under_way_.erase(&one);
}

void quorum_group::close() noexcept {
  if (!is_in_its_process()) return;
  decltype(under_way_) left;
  {
    std::unique_lock lock(guard_);
    const auto is_quiet = [this] { return undecided_ == 0; };
    if (!net::is_quiet_thread()) quiet_.wait_for(lock, response_timeout_, is_quiet);
    left.swap(under_way_);
  }
  for (const auto& [_, one] : left) {
    if (const auto present = one.lock()) present->abandon();
  }
}

}  // namespace holdfast::runtime
