#include "redis/calls/question_batch.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/errc.hpp>

#include "base/mutex.hpp"
#include "net/clock.hpp"
#include "net/waiter.hpp"
#include "redis/dialects/nothing.hpp"

namespace holdfast::calls {
namespace {

// Stays as long as the connection has one of its requests, also when its caller has left.
// Thread safety: requests are called on any thread, the rest on that of the caller.
class batch {
 public:
  batch(std::span<question* const> questions, net::waiter& who)
      : open_(questions.size()), waiter_(&who) {
    for (auto* const one : questions) requests_.emplace_back(*this, *one);
  }

  void submit(const std::shared_ptr<batch>& self, redis::connection& over, net::waiter& who) {
    for (auto& one : requests_) {
      one.begin(self, who);
      over.submit(one, redis::connection::delivery::driven);
    }
  }

  // From now on nothing of the caller's is touched.
  void leave() HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    waiter_ = nullptr;
  }

 private:
  class one_request final : public redis::request {
   public:
    one_request(batch& of, question& asked) : of_(of), asked_(asked) {}
    ~one_request() override = default;

    void begin(const std::shared_ptr<batch>& self, net::waiter& who) {
      kept_ = self;
      set_sleeper(&who);
    }

   private:
    friend class batch;

    void write(resp::writer& out, monotonic_time) override { of_.write(asked_, out); }
    void on_reply(resp::value& reply) override {
      of_.end(*this, question::fate::answered, [&] { asked_.reply = std::move(reply); });
    }
    void on_failed(holdfast::no_answer, const redis::breakdown& why) override {
      of_.end(*this, question::fate::failed, [&] { asked_.broken = redis::copy(why); });
    }

    batch& of_;
    question& asked_;              // while the caller waits
    std::shared_ptr<batch> kept_;  // while the connection has it
  };

  void write(const question& asked, resp::writer& out) HOLDFAST_EXCLUDES(mutex_) {
    const scoped_mutex lock(mutex_);
    if (waiter_ == nullptr) return dialects::write_nothing(out);
    asked.write(out);
  }

  template <typename Note>
  void end(one_request& one, question::fate how, Note&& note) HOLDFAST_EXCLUDES(mutex_) {
    const auto alive = std::exchange(one.kept_, nullptr);
    net::waiter* sleeps = nullptr;
    {
      const scoped_mutex lock(mutex_);
      if (waiter_ == nullptr) return;
      note();
      one.asked_.how = how;
      if (--open_ == 0 && waiter_->set_done()) sleeps = waiter_;
    }
    if (sleeps != nullptr) sleeps->wake();
  }

  mutex mutex_;
  std::deque<one_request> requests_;  // which stay where they are
  std::size_t open_ HOLDFAST_GUARDED_BY(mutex_);
  net::waiter* waiter_ HOLDFAST_GUARDED_BY(mutex_);
};

struct waker {
  net::waiter* who;
  void operator()() const noexcept { who->done(); }
};

}  // namespace

resp::value question::take() {
  if (how == fate::failed) throw failure{broken.code, broken.detail};
  return std::move(reply);
}

void ask_together(redis::connection& over, std::span<question* const> questions,
                  const redis_locks::bound& within) {
  const auto stop = within.stop.value_or(std::stop_token{});
  if (questions.empty() || stop.stop_requested() || net::now() >= within.ends) return;
  redis::connection::prepare_to_drive();
  net::waiter self{net::waiter::kind::caller, &over};
  self.set_deadline(within.ends);
  const auto all = std::make_shared<batch>(questions, self);
  all->submit(all, over, self);
  {
    std::optional<std::stop_callback<waker>> stopper;
    if (stop.stop_possible()) stopper.emplace(stop, waker{&self});
    over.drive(self);
  }
  all->leave();
  over.forget(self);
}

}  // namespace holdfast::calls
