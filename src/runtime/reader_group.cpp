#include "runtime/reader_group.hpp"

#include <algorithm>
#include <utility>

#include "lease/local_turns.hpp"
#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/loss_notice.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {

// One reader's. He is told of a loss while he reads and not afterwards, whoever reads on.
class reader_group::reading final : public holding {
 public:
  reading(reader_group& group, std::shared_ptr<share> under)
      : group_(group), under_(std::move(under)) {}

  const std::string& name() const noexcept override { return of().name(); }
  bool held() const noexcept override { return of().held(); }
  lease_mode mode() const noexcept override { return of().mode(); }
  nanoseconds remaining() const noexcept override { return of().remaining(); }
  result<void> extend(milliseconds duration) override { return of().extend(duration); }

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
  tenure& of() const noexcept { return *under_->of; }
  // What must go back, if he was the last.
  std::shared_ptr<tenure> leave() {
    was_lost_ = !of().held();
    return group_.leave(*under_, *this) ? under_->of : nullptr;
  }
  static result<void> loss() {
    return failure{errc::lost, "the lease had ended before it was released"};
  }

  reader_group& group_;  // the tenure keeps its site alive
  const std::shared_ptr<share> under_;
  std::stop_source lost_{std::nostopstate};  // guarded by the group
  bool was_lost_ = false;
};

// As with a mutex, what is nearly over is left alone.
bool reader_group::may_join(monotonic_time now) const {
  if (!current_ || current_->minor == leasing::last_minor) return false;
  if (current_->of->major() <= floor_) return false;
  const bool is_turn = now < turn_ends_ && current_->minor < leasing::last_minor / 2;
  if (!is_turn && !(asker_ != nullptr && now < turn_ends_ + leasing::local_turn)) return false;
  return current_->of->remaining(now) > spec_.enough();
}

grant reader_group::admit(share& to, std::shared_ptr<reading> who) {
  ++to.readers;
  return {std::move(who), spec_.token(to.of->major(), to.minor)};
}

std::optional<grant> reader_group::join() {
  const scoped_mutex lock(mutex_);
  if (!may_join(net::now())) return std::nullopt;
  // One allocation: a reader is told of a loss, and has left, by itself.
  auto mine = std::make_shared<reading>(*this, current_);
  ++current_->minor;
  return admit(*current_, std::move(mine));
}

grant reader_group::obtained(std::shared_ptr<tenure> by) {
  auto made = std::make_shared<share>(share{.of = std::move(by)});
  auto mine = std::make_shared<reading>(*this, made);
  const scoped_mutex lock(mutex_);
  current_ = all_.emplace_back(std::move(made));
  turn_ends_ = net::now() + leasing::local_turn;
  return admit(*current_, std::move(mine));
}

void reader_group::asks(const tenure& who) {
  const scoped_mutex lock(mutex_);
  asker_ = &who;
}

bool reader_group::has_asked(const tenure& who) {
  const scoped_mutex lock(mutex_);
  if (asker_ != &who) return false;
  asker_ = nullptr;
  return true;
}

bool reader_group::leave(share& from, const reading& who) {
  const scoped_mutex lock(mutex_);
  std::erase(from.listening, &who);
  if (--from.readers > 0) return false;
  if (current_.get() == &from) current_ = nullptr;
  std::erase_if(all_, [&](const auto& one) { return one.get() == &from; });
  return true;
}

void reader_group::raise_floor(dialects::token_major seen) {
  const scoped_mutex lock(mutex_);
  floor_ = std::max(floor_, seen);
}

void reader_group::lost(const tenure& what) {
  const scoped_mutex lock(mutex_);
  for (const auto& one : all_) {
    if (one->of.get() != &what) continue;
    for (const auto* who : one->listening) engine_.callbacks().post(*new loss_notice{who->lost_});
    one->listening.clear();
  }
}

}  // namespace holdfast::runtime
