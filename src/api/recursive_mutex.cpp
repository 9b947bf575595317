#include <holdfast/client.hpp>
#include <holdfast/recursive_mutex.hpp>

#include <atomic>
#include <optional>
#include <utility>

#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "base/identity.hpp"
#include "runtime/client_core.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast {
namespace {

// What an owner has as long as he is inside; all his leases share it.
class hold final : public runtime::holding {
 public:
  hold(std::shared_ptr<runtime::local_lock> local, const runtime::grant& got)
      : local_(std::move(local)), whole_(got.of), token_(got.token) {}

  std::uint64_t token() const noexcept { return token_; }

  const std::string& name() const noexcept override { return whole_->name(); }
  bool held() const noexcept override { return whole_->held(); }
  lease_mode mode() const noexcept override { return whole_->mode(); }
  nanoseconds remaining() const noexcept override { return whole_->remaining(); }
  std::stop_token lost() override { return whole_->lost(); }
  result<void> extend(milliseconds duration) override { return whole_->extend(duration); }

  bool give_back(const runtime::listener& who) override {
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

  // Under the guard of who is inside.
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

  const std::shared_ptr<runtime::local_lock> local_;
  const std::shared_ptr<runtime::holding> whole_;
  const std::uint64_t token_;
  std::size_t count_ = 1;
  std::atomic<bool> was_lost_{false};
};

// What `who` has; null when he has nothing, or has lost it. The caller has the guard, and lets go
// of this after it.
std::shared_ptr<hold> hold_of(runtime::recursive_owner& inside, identity who)
    HOLDFAST_REQUIRES(inside.guard) {
  if (inside.owner != who) return nullptr;
  auto has = std::static_pointer_cast<hold>(inside.hold.lock());
  return has && has->held() ? has : nullptr;
}

std::optional<runtime::grant> enter_again(runtime::local_lock& local, identity who) {
  auto& inside = local.inside();
  std::shared_ptr<hold> has;
  const scoped_mutex lock(inside.guard);
  has = hold_of(inside, who);
  if (!has) return std::nullopt;
  has->enter();
  const auto token = has->token();
  return runtime::grant{std::move(has), token};
}

runtime::acquired enter_first(const std::shared_ptr<runtime::local_lock>& local, identity who,
                              runtime::acquired outcome) {
  auto* const got = std::get_if<runtime::grant>(&outcome);
  if (got == nullptr) return outcome;
  runtime::keep_or_give_back(*got, [&] { got->of = std::make_shared<hold>(local, *got); });
  auto& inside = local->inside();
  const scoped_mutex lock(inside.guard);
  inside.owner = who;
  inside.hold = got->of;
  return outcome;
}

class recursive_acquisition final : public runtime::acquisition {
 public:
  recursive_acquisition(std::shared_ptr<runtime::local_lock> of, identity who)
      : local_(std::move(of)), who_(who), first_(local_->ask()) {}

  bool begin(leasing::patience patience, std::stop_token stop,
             const runtime::listener& who) override {
    if (!stop.stop_requested()) again_ = enter_again(*local_, who_);
    return again_ || first_->begin(patience, std::move(stop), who);
  }
  runtime::acquired finish() override {
    if (again_) return *std::exchange(again_, std::nullopt);
    return enter_first(local_, who_, first_->finish());
  }
  void abandon() override {
    if (!again_) return first_->abandon();
    again_->of->give_back({});
  }

 private:
  const std::shared_ptr<runtime::local_lock> local_;
  const identity who_;
  const std::unique_ptr<runtime::acquisition> first_;
  std::optional<runtime::grant> again_;
};

class recursive_source final : public runtime::lock_source {
 public:
  // `who`: 0 is the thread that blocks.
  recursive_source(std::shared_ptr<runtime::local_lock> local, identity who)
      : local_(std::move(local)), who_(who) {}

  const std::string& name() const noexcept override { return local_->name(); }
  lock_kind kind() const noexcept override { return local_->kind(); }
  const std::shared_ptr<runtime::local_lock>& local() const noexcept { return local_; }

  runtime::acquired wait(leasing::patience patience, std::stop_token stop) override {
    const identity who = who_ != 0 ? who_ : this_thread();
    if (!stop.stop_requested()) {
      if (auto again = enter_again(*local_, who)) return *std::move(again);
    }
    return enter_first(local_, who, local_->wait(patience, std::move(stop)));
  }
  // Whoever does not block has no thread of his own.
  std::unique_ptr<runtime::acquisition> ask() override {
    return std::make_unique<recursive_acquisition>(local_, who_ != 0 ? who_ : new_identity());
  }

 private:
  const std::shared_ptr<runtime::local_lock> local_;
  const identity who_;
};

std::size_t count_of(runtime::local_lock& local, identity who) {
  if (!local.owner().is_in_its_process()) return 0;
  auto& inside = local.inside();
  std::shared_ptr<hold> has;
  const scoped_mutex lock(inside.guard);
  has = hold_of(inside, who);
  return has ? has->count() : 0;
}

const std::shared_ptr<runtime::local_lock>& lock_of(const lock& one) {
  return static_cast<const recursive_source&>(*detail::lock_access::source(one)).local();
}

lock wanted_by(const std::shared_ptr<runtime::client_core>& core,
               const std::shared_ptr<runtime::local_lock>& local, identity who) {
  return detail::lock_access::make(core, std::make_shared<recursive_source>(local, who));
}

}  // namespace

owner::owner() noexcept : id_(new_identity()) {}

recursive_mutex client::recursive_mutex(std::string_view name,
                                        const recursive_mutex_options& options,
                                        const dialect& how) const {
  return holdfast::recursive_mutex{
      wanted_by(core_, api::make_recursive_lock(core_, name, api::in_full(options), how), 0)};
}

lock recursive_mutex::of(const owner& who) const {
  return wanted_by(detail::lock_access::core(inner()), lock_of(inner()), who.id_);
}

std::size_t recursive_mutex::hold_count() const {
  return count_of(*lock_of(inner()), this_thread());
}

std::size_t recursive_mutex::hold_count(const owner& who) const {
  return count_of(*lock_of(inner()), who.id_);
}

}  // namespace holdfast
