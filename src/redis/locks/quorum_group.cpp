#include "redis/locks/quorum_group.hpp"

#include <algorithm>
#include <utility>

#include "base/uncancelled.hpp"
#include "net/clock.hpp"
#include "net/closing.hpp"
#include "net/quiet_thread.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

namespace {

// Each answer says so, and seldom anything new: then the threads' caches are left alone.
void store_news(std::atomic<bool>& what, bool now) noexcept {
  if (what.load(std::memory_order_relaxed) != now) what.store(now);
}

}  // namespace

quorum_group::quorum_group(std::vector<std::shared_ptr<client_core>> members,
                           milliseconds longest_lease)
    : members_(std::move(members)),
      longest_lease_(longest_lease),
      slow_(std::make_unique<std::atomic<bool>[]>(members_.size())),
      silent_(std::make_unique<std::atomic<bool>[]>(members_.size())) {
  for (const auto& each : members_) {
    engines_.push_back(&engine_of(*each));
    names_.push_back(each->url());
    response_timeout_ = std::max(response_timeout_, each->engine().options().response_timeout);
  }
}

// The last answer may have come on a thread of a member's, which closing that client waits for.
quorum_group::~quorum_group() {
  if (!is_in_its_process() || !net::is_quiet_thread()) return;
  net::close_aside([last = std::move(members_)]() mutable { last.clear(); });
}

bool quorum_group::hears() const noexcept {
  return std::ranges::any_of(engines_, [](const auto* each) { return each->hears(); });
}

void quorum_group::set_slow(std::size_t member, bool slow) noexcept {
  store_news(slow_[member], slow);
}

void quorum_group::set_silent(std::size_t member, bool silent) noexcept {
  store_news(silent_[member], silent);
}

bool quorum_group::began(const std::shared_ptr<quorum_errand>& one) {
  const std::lock_guard lock(guard_);
  ++undecided_;
  if (!is_closed_) under_way_.emplace(one.get(), one);
  return !is_closed_;
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
  const uncancelled meanwhile;
  decltype(under_way_) left;
  {
    std::unique_lock lock(guard_);
    const auto is_quiet = [this] { return undecided_ == 0; };
    if (!net::is_quiet_thread()) quiet_.wait_for(lock, response_timeout_, is_quiet);
    is_closed_ = true;
    left.swap(under_way_);
  }
  for (const auto& [_, one] : left) {
    if (const auto present = one.lock()) present->abandon();
  }
}

// Ends the group, or hands it to the thread that waits for that.
class quorum_handle::farewell {
 public:
  void part_with(std::unique_ptr<quorum_group> last) {
    const std::lock_guard lock(guard_);
    if (!is_awaited_) return;  // `last` ends here, after the lock
    last_ = std::move(last);
    parted_.notify_all();
  }
  void expect() {
    const std::lock_guard lock(guard_);
    is_awaited_ = true;
  }
  std::unique_ptr<quorum_group> await(nanoseconds longest) {
    std::unique_lock lock(guard_);
    parted_.wait_for(lock, longest, [this] { return last_ != nullptr; });
    is_awaited_ = false;
    return std::move(last_);
  }

 private:
  std::mutex guard_;
  std::condition_variable parted_;
  std::unique_ptr<quorum_group> last_;
  bool is_awaited_ = false;
};

quorum_handle::quorum_handle(std::unique_ptr<quorum_group> group)
    : farewell_(std::make_shared<farewell>()),
      group_(group.release(), [to = farewell_](quorum_group* last) {
        std::unique_ptr<quorum_group> whole(last);
        if (last->is_in_its_process()) to->part_with(std::move(whole));
      }) {}

// The last requests keep the group until they are answered.
quorum_handle::~quorum_handle() {
  const uncancelled meanwhile;
  const auto until = net::now() + group_->response_timeout();
  group_->close();
  if (!group_->is_in_its_process() || net::is_quiet_thread()) return;
  farewell_->expect();
  group_.reset();
  const auto last = farewell_->await(until - net::now());  // ended by this thread
}

}  // namespace holdfast::redis_locks
