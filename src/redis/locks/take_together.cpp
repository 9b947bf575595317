#include "redis/locks/take_together.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/mutex.hpp"
#include "redis/locks/joint_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

// Wakes a thread that waits for the answer to a joint request, when it need not wait any longer:
// the parts ask once, and know no deadline. Thread safety: begin() and end() once each, by that
// thread.
class end_of_patience final : public std::enable_shared_from_this<end_of_patience>, private timed {
 public:
  explicit end_of_patience(redis_engine& of) : engine_(of) {}

  void begin(net::waiter& who, const leasing::patience& patience, std::stop_token stop) {
    {
      const scoped_mutex lock(mutex_);
      waiting_ = &who;
    }
    if (stop.stop_possible()) stop_callback_.emplace(std::move(stop), stopper{this});
    const bool has_deadline = patience.waits && patience.give_up_at != monotonic_time::max();
    if (has_deadline) engine_.timers().arm(*this, patience.give_up_at);
  }

  // Whether it has come, and why.
  std::optional<leasing::outcome> come() {
    const scoped_mutex lock(mutex_);
    return come_;
  }

  // The thread may leave then.
  void end() {
    stop_callback_.reset();
    engine_.timers().disarm(*this);
    const scoped_mutex lock(mutex_);
    waiting_ = nullptr;
  }

 private:
  void come(leasing::outcome why) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (waiting_ == nullptr || come_) return;
    come_ = std::move(why);
    waiting_->done();
  }
  void on_timer(monotonic_time) override {
    come({.code = errc::timed_out, .detail = "the server has not answered yet"});
  }
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  struct stopper {
    end_of_patience* of;
    void operator()() const noexcept { of->come({.code = errc::cancelled}); }
  };

  redis_engine& engine_;
  mutex mutex_;
  net::waiter* waiting_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::optional<leasing::outcome> come_ HOLDFAST_GUARDED_BY(mutex_);
  std::optional<std::stop_callback<stopper>> stop_callback_;
};

// False: there is no memory to look after them.
bool is_watched(runtime::wait_watch* watch, const std::vector<grant>& got) noexcept {
  if (watch == nullptr) return true;
  try {
    for (const auto& one : got) {
      watch->acquired(this_thread(), std::static_pointer_cast<lock_driver>(one.of));
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

std::variant<std::vector<grant>, leasing::outcome> take_together(
    const std::vector<local_lock*>& all, const leasing::patience& patience, std::stop_token stop) {
  auto& engine = static_cast<redis_engine&>(all.front()->owner());
  auto& connection = engine.connection(all.front()->spec().key.slot());
  redis::connection::prepare_to_drive();
  net::waiter self{net::waiter::kind::caller, &connection};
  const auto patience_ends = std::make_shared<end_of_patience>(engine);
  auto joint = std::make_unique<joint_request>(engine, all.size());
  std::vector<std::unique_ptr<local_acquisition>> parts;
  parts.reserve(all.size());
  std::vector<grant> got;
  got.reserve(all.size());
  bool free = true;
  bool out_of_memory = false;
  for (auto it = all.begin(); it != all.end() && free; ++it) {
    try {
      auto one = std::make_unique<local_acquisition>((*it)->shared_from_this());
      const bool ended = one->begin({}, {}, {.sleeper = &self, .together = joint.get()});
      free = !ended || one->has_grant();
      parts.push_back(std::move(one));
    } catch (const std::bad_alloc&) {  // the others have begun
      out_of_memory = true;
      free = false;
    }
  }
  if (free) {
    joint_request::submit(std::move(joint), &self, redis::connection::delivery::driven);
  } else {
    joint->cancel();
  }
  const auto is_answered = [](const auto& one) { return one->has_answer(); };
  patience_ends->begin(self, patience, std::move(stop));
  std::optional<leasing::outcome> over;
  while (self.clear_done(), !std::ranges::all_of(parts, is_answered)) {
    over = patience_ends->come();
    if (over) break;
    connection.drive(self);
  }
  patience_ends->end();
  self.done();
  connection.drive(self);
  if (over) {
    for (const auto& one : parts) one->abandon();
    connection.forget(self);
    return *std::move(over);
  }
  leasing::outcome why;
  for (const auto& one : parts) {
    auto outcome = one->finish();
    if (auto* const granted = std::get_if<grant>(&outcome)) {
      got.push_back(std::move(*granted));
    } else if (!why.code || why.code == errc::busy) {
      why = std::get<leasing::outcome>(std::move(outcome));
    }
  }
  out_of_memory = out_of_memory || (!why.code && !is_watched(engine.deadlocks(), got));
  if (!why.code && !out_of_memory) return got;
  connection.forget(self);
  for (const auto& one : got) one.of->give_back({});
  if (out_of_memory) throw std::bad_alloc();
  return why;
}

}  // namespace holdfast::redis_locks
