// One command whose caller waits for the answer.
#pragma once

#include <functional>

#include <holdfast/result.hpp>

#include "redis/connection.hpp"

namespace holdfast::runtime {

// Lives on the stack of the calling thread. It ends in bounded time: the connection answers or
// fails every request within connect and response time-out. Thread safety: one thread.
class blocking_request final : public redis::request {
 public:
  // May be called again when the command is sent again.
  using writing = std::function<void(resp::writer&, monotonic_time sent_at)>;

  explicit blocking_request(writing how) : write_(std::move(how)) {}

  // Sends it and waits. Error replies of the server are values here. May be called again.
  result<resp::value> run(redis::connection& over) {
    redis::connection::prepare_to_drive();
    redis::waiter self{redis::waiter::kind::caller, &over};
    waiter_ = &self;
    broken_.reset();
    set_sleeper(&self);
    over.submit(*this, redis::connection::delivery::driven);
    over.drive(self);
    if (broken_) return failure{broken_->code, broken_->detail};
    return std::move(reply_);
  }

  // After a run without an answer: what is known about the command, and why there is none.
  redis::fate fate() const noexcept { return fate_; }
  const redis::breakdown& breakdown() const noexcept { return *broken_; }

 private:
  void write(resp::writer& out, monotonic_time sent_at) override { write_(out, sent_at); }
  void on_reply(resp::value& reply) override {
    reply_ = std::move(reply);
    waiter_->done();
  }
  void on_failed(redis::fate what, const redis::breakdown& why) override {
    fate_ = what;
    broken_ = redis::copy(why);
    waiter_->done();
  }

  writing write_;
  redis::waiter* waiter_ = nullptr;
  resp::value reply_;
  std::optional<redis::breakdown> broken_;
  redis::fate fate_ = redis::fate::not_sent;
};

}  // namespace holdfast::runtime
