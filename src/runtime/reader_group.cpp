#include "runtime/reader_group.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/lock_driver.hpp"
#include "runtime/loss_notice.hpp"

namespace holdfast::runtime {

// One reader's. It is told of a loss while it reads and not afterwards, whichever others read on.
class reader_group::reading final : public holding {
 public:
  reading(reader_group& group, std::shared_ptr<share> under)
      : group_(group), under_(std::move(under)) {}

  const std::string& name() const noexcept override { return of().name(); }
  bool held() const noexcept override { return of().held(); }
  lease_mode mode() const noexcept override { return of().mode(); }
  nanoseconds remaining() const noexcept override { return of().remaining(); }
  result<void> extend(milliseconds duration) override { return of().extend(duration); }
  bool set_note(std::string_view text) noexcept override { return of().set_note(text); }
  void tell_own_locks(const engine& at, std::uint64_t token, const telling& tell) const override {
    of().tell_own_locks(at, token, tell);
  }

  std::stop_token lost() override {
    const scoped_mutex lock(group_.mutex_);
    if (!lost_.stop_possible()) {
      lost_ = std::stop_source{};
      if (of().held()) {
        under_->listening.push_back(this);
      } else {
        lost_.request_stop();  // nobody can listen to it yet
      }
    }
    return lost_.get_token();
  }

  bool give_back(const listener& who) override {
    const auto spent = leave();
    if (!was_lost_) return spent && spent->release(who);
    if (spent) spent->release({});
    if (who.exists()) who.tell(group_.engine_);
    return who.exists();
  }

  result<void> take_released() override { return was_lost_ ? loss() : of().take_released(); }

  result<void> give_back_and_wait() override {
    const auto spent = leave();
    auto released = spent ? spent->give_back_and_wait() : result<void>{};
    return was_lost_ ? loss() : released;
  }

 private:
  friend class reader_group;
  // Tells the analysis that the mutex of the group, which is this one, is held.
  void assert_held() const noexcept HOLDFAST_ASSERTS(group_.mutex_) {}
  lock_driver& of() const noexcept { return *under_->of; }
  // The lock to give back, if this was the last reader.
  std::shared_ptr<lock_driver> leave() {
    was_lost_ = !of().held();
    return group_.leave(*under_, *this);
  }
  static result<void> loss() {
    return failure{errc::lost, "the lease had ended before it was released"};
  }

  reader_group& group_;  // the driver keeps its lock alive
  const std::shared_ptr<share> under_;
  std::stop_source lost_ HOLDFAST_GUARDED_BY(group_.mutex_){std::nostopstate};
  bool was_lost_ = false;
};

grant reader_group::admitted(const share& to, std::uint32_t minor,
                             std::shared_ptr<reading> who) const {
  return {std::move(who), spec_.token(to.major, minor)};
}

std::optional<grant> reader_group::join() {
  const scoped_mutex lock(mutex_);
  if (all_.empty()) return std::nullopt;
  const auto& last = all_.back();
  const auto now = net::now();
  if (!turns_.may_join({now, last->of->remaining(now)})) return std::nullopt;
  // One allocation: a reader is told of a loss, and has left, by itself.
  auto mine = std::make_shared<reading>(*this, last);
  return admitted(*last, turns_.join(), std::move(mine));
}

grant reader_group::obtained(std::shared_ptr<lock_driver> by) {
  auto made = std::make_shared<share>();
  made->major = by->major();
  made->of = std::move(by);
  auto mine = std::make_shared<reading>(*this, made);
  const scoped_mutex lock(mutex_);
  all_.push_back(made);
  turns_.on_granted(*made, net::now());
  return admitted(*made, 0, std::move(mine));
}

void reader_group::asks(const lock_driver& who) {
  const scoped_mutex lock(mutex_);
  turns_.ask(&who);
}

bool reader_group::has_asked(const lock_driver& who) {
  const scoped_mutex lock(mutex_);
  return turns_.has_asked(&who);
}

std::shared_ptr<lock_driver> reader_group::leave(share& from, const reading& who) {
  const scoped_mutex lock(mutex_);
  std::erase(from.listening, &who);
  if (!turns_.on_left(from)) return nullptr;
  auto spent = from.of;
  std::erase_if(all_, [&](const auto& one) { return one.get() == &from; });
  return spent;
}

void reader_group::raise_floor(substrate::token_major seen) {
  const scoped_mutex lock(mutex_);
  turns_.raise_floor(seen);
}

void reader_group::lost(const lock_driver& what) {
  const scoped_mutex lock(mutex_);
  for (const auto& one : all_) {
    if (one->of.get() != &what) continue;
    for (const auto* who : one->listening) {
      who->assert_held();
      engine_.callbacks().post(*new loss_notice{who->lost_});
    }
    one->listening.clear();
  }
}

}  // namespace holdfast::runtime
