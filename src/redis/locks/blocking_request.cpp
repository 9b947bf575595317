#include "redis/locks/blocking_request.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/at_exit.hpp"
#include "base/mutex.hpp"
#include "net/clock.hpp"
#include "redis/dialects/nothing.hpp"

namespace holdfast::redis_locks {
namespace {

struct waker {
  net::waiter* who;
  void operator()() const noexcept { who->done(); }
};

}  // namespace

redis::breakdown too_late(monotonic_time began) {
  const auto waited = std::chrono::floor<milliseconds>(net::now() - began).count();
  return {.code = errc::unavailable,
          .detail = "the server did not answer within " + std::to_string(waited) + " ms"};
}

// Thread safety: write, on_reply and on_failed on any thread, the rest on that of the caller.
class blocking_request::copy final : public redis::request {
 public:
  explicit copy(writing how) : write_(std::move(how)) {}
  ~copy() override = default;

  void begin(std::shared_ptr<copy> self, net::waiter& who) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    self_ = std::move(self);
    waiter_ = &who;
    was_sent_ = false;
    set_sleeper(&who);
  }

  // True: it was under way still, and its caller hears no more of it.
  bool give_up() HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (waiter_ == nullptr) return false;
    waiter_ = nullptr;
    is_given_up_ = true;
    why_unanswered_ = was_sent_ ? no_answer::unknown : no_answer::not_sent;
    return true;
  }

  // After its run; nobody else changes them then.
  resp::value take_reply() noexcept { return std::move(reply_); }
  std::optional<redis::breakdown>& broken() noexcept { return broken_; }
  no_answer why_unanswered() const noexcept { return why_unanswered_; }
  void never_sent() noexcept { why_unanswered_ = no_answer::not_sent; }

 private:
  void write(resp::writer& out, monotonic_time sent_at) override HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (is_given_up_) return dialects::write_nothing(out);
    write_(out, sent_at);
    was_sent_ = true;
  }

  void on_reply(resp::value& reply) override {
    end([&] { reply_ = std::move(reply); });
  }

  void on_failed(no_answer what, const redis::breakdown& why) override {
    end([&] {
      why_unanswered_ = what;
      broken_ = redis::copy(why);
    });
  }

  template <typename Note>
  void end(Note&& note) HOLDFAST_EXCLUDES(mutex_) {
    const auto alive = std::exchange(self_, nullptr);
    net::waiter* sleeps = nullptr;
    {
      const scoped_mutex lock(mutex_);
      if (is_given_up_) return;
      note();
      auto* const who = std::exchange(waiter_, nullptr);
      if (who->set_done()) sleeps = who;
    }
    if (sleeps != nullptr) sleeps->wake();
  }

  mutex mutex_;
  const writing write_;
  std::shared_ptr<copy> self_;  // while the connection has it
  net::waiter* waiter_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  bool is_given_up_ HOLDFAST_GUARDED_BY(mutex_) = false;
  bool was_sent_ HOLDFAST_GUARDED_BY(mutex_) = false;
  resp::value reply_;
  std::optional<redis::breakdown> broken_;
  no_answer why_unanswered_ = no_answer::not_sent;
};

blocking_request::blocking_request(writing how) : copy_(std::make_shared<copy>(std::move(how))) {}

result<resp::value> blocking_request::run(redis::connection& over, const bound& within) {
  const auto began = net::now();
  const auto stop = within.stop.value_or(std::stop_token{});
  // An earlier failure explains more than the silence now.
  auto earlier = std::exchange(copy_->broken(), std::nullopt);
  const auto given_up = [&] {
    auto& why = copy_->broken();
    if (stop.stop_requested()) {
      why = redis::breakdown{.code = errc::cancelled, .detail = "stopped before the answer"};
    } else {
      why = earlier ? std::move(earlier) : too_late(began);
    }
    return failure{why->code, why->detail};
  };
  if (stop.stop_requested() || began >= within.ends) {
    copy_->never_sent();
    return given_up();
  }
  redis::connection::prepare_to_drive();
  net::waiter self{net::waiter::kind::caller, &over};
  self.set_deadline(within.ends);
  copy_->begin(copy_, self);
  over.submit(*copy_, redis::connection::delivery::driven);
  {
    std::optional<std::stop_callback<waker>> stopper;
    if (stop.stop_possible()) stopper.emplace(stop, waker{&self});
    over.drive(self);
  }
  if (copy_->give_up()) {
    over.forget(self);
    return given_up();
  }
  if (const auto& why = copy_->broken()) return failure{why->code, why->detail};
  return copy_->take_reply();
}

monotonic_time blocking_request::sent_at() const noexcept { return copy_->sent_at(); }

no_answer blocking_request::why_unanswered() const noexcept { return copy_->why_unanswered(); }

const redis::breakdown& blocking_request::breakdown() const noexcept { return *copy_->broken(); }

}  // namespace holdfast::redis_locks
