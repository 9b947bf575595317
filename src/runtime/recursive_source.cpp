#include "runtime/recursive_source.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace holdfast::runtime {
namespace {

// What an owner has while it is inside; all its leases share it.
class recursive_holding final : public holding {
 public:
  recursive_holding(std::shared_ptr<local_lock> local, const grant& got)
      : local_(std::move(local)), whole_(got.of), token_(got.token) {}

  std::uint64_t token() const noexcept { return token_; }

  const std::string& name() const noexcept override { return whole_->name(); }
  bool held() const noexcept override { return whole_->held(); }
  lease_mode mode() const noexcept override { return whole_->mode(); }
  nanoseconds remaining() const noexcept override { return whole_->remaining(); }
  std::stop_token lost() override { return whole_->lost(); }
  result<void> extend(milliseconds duration) override { return whole_->extend(duration); }
  bool set_note(std::string_view text) noexcept override { return whole_->set_note(text); }
  void tell_own_locks(const engine& of, std::uint64_t token, const telling& tell) const override {
    whole_->tell_own_locks(of, token, tell);
  }

  bool give_back(const listener& who) override {
    if (leave()) return whole_->give_back(who);
    if (!who.exists() || held()) return false;
    was_lost_ = true;
    who.tell(local_->owner());
    return true;
  }
  result<void> take_released() override {
    return was_lost_ ? result<void>{lost_before()} : whole_->take_released();
  }
  result<void> give_back_and_wait() override {
    if (leave()) return whole_->give_back_and_wait();
    return held() ? result<void>{} : lost_before();
  }

  // The caller has the guard of `inside()`.
  std::size_t count() const { return count_; }
  void enter() { ++count_; }

 private:
  static failure lost_before() {
    return failure{errc::lost, "the lease had ended before it was released"};
  }

  // True: that was the last one.
  bool leave() {
    auto& inside = local_->inside();
    const scoped_mutex lock(inside.guard);
    if (--count_ > 0) return false;
    if (inside.hold.lock().get() == this) inside.owner = 0;
    return true;
  }

  const std::shared_ptr<local_lock> local_;
  const std::shared_ptr<holding> whole_;
  const std::uint64_t token_;
  std::size_t count_ = 1;
  std::atomic<bool> was_lost_{false};
};

// What `who` has; null when it has nothing, or has lost it. The caller has the guard, and must
// destroy the result after it has let go of the guard.
std::shared_ptr<recursive_holding> hold_of(recursive_owner& inside, identity who)
    HOLDFAST_REQUIRES(inside.guard) {
  if (inside.owner != who) return nullptr;
  auto has = std::static_pointer_cast<recursive_holding>(inside.hold.lock());
  return has && has->held() ? has : nullptr;
}

std::optional<grant> enter_again(local_lock& local, identity who) {
  auto& inside = local.inside();
  std::shared_ptr<recursive_holding> has;
  const scoped_mutex lock(inside.guard);
  has = hold_of(inside, who);
  if (!has) return std::nullopt;
  has->enter();
  const auto token = has->token();
  return grant{std::move(has), token};
}

acquired enter_first(const std::shared_ptr<local_lock>& local, identity who, acquired outcome) {
  auto* const got = std::get_if<grant>(&outcome);
  if (got == nullptr) return outcome;
  keep_or_give_back(*got, [&] { got->of = std::make_shared<recursive_holding>(local, *got); });
  auto& inside = local->inside();
  const scoped_mutex lock(inside.guard);
  inside.owner = who;
  inside.hold = got->of;
  return outcome;
}

class recursive_acquisition final : public acquisition {
 public:
  recursive_acquisition(std::shared_ptr<local_lock> of, identity who)
      : local_(std::move(of)), who_(who), first_(local_->ask()) {}

  bool begin(leasing::patience patience, std::stop_token stop, const listener& who) override {
    if (!stop.stop_requested()) again_ = enter_again(*local_, who_);
    return again_ || first_->begin(patience, std::move(stop), who);
  }
  acquired finish() override {
    if (again_) return *std::exchange(again_, std::nullopt);
    return enter_first(local_, who_, first_->finish());
  }
  void abandon() override {
    if (!again_) return first_->abandon();
    again_->of->give_back({});
  }

 private:
  const std::shared_ptr<local_lock> local_;
  const identity who_;
  const std::unique_ptr<acquisition> first_;
  std::optional<grant> again_;
};

}  // namespace

acquired recursive_source::wait(leasing::patience patience, std::stop_token stop) {
  const identity who = who_ != 0 ? who_ : this_thread();
  if (!stop.stop_requested()) {
    if (auto again = enter_again(*local_, who)) return *std::move(again);
  }
  return enter_first(local_, who, local_->wait(patience, std::move(stop)));
}

std::unique_ptr<acquisition> recursive_source::ask() {
  return std::make_unique<recursive_acquisition>(local_, who_ != 0 ? who_ : new_identity());
}

std::size_t hold_count(local_lock& local, identity who) {
  if (!local.owner().is_in_its_process()) return 0;
  auto& inside = local.inside();
  std::shared_ptr<recursive_holding> has;
  const scoped_mutex lock(inside.guard);
  has = hold_of(inside, who);
  return has ? has->count() : 0;
}

}  // namespace holdfast::runtime
