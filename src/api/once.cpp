#include "api/once.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "runtime/blocking_request.hpp"

namespace holdfast::api {
namespace {

class patient_request {
 public:
  patient_request(runtime::engine& of, runtime::blocking_request::writing how)
      : engine_(of),
        give_up_at_(net::now() + of.options().connect_timeout + 2 * of.options().response_timeout),
        copy_(std::move(how)) {}

  resp::value answer() {
    for (;;) {
      auto reply = copy_.run(engine_.connection());
      if (reply) return *std::move(reply);
      const auto fate = copy_.fate();
      const auto& why = copy_.breakdown();
      doubtful_ = doubtful_ || fate == redis::fate::unknown;
      const bool hopeless = why.code != errc::unavailable || fate == redis::fate::unreachable;
      if (hopeless || is_over()) fail(why.code, why.detail);
    }
  }

  void learn(server_time said) { engine_.learn_time(copy_.sent_at(), net::now(), said); }
  monotonic_time give_up_at() const noexcept { return give_up_at_; }
  bool is_over() const noexcept { return net::now() >= give_up_at_; }
  bool is_doubtful() const noexcept { return doubtful_; }

  [[noreturn]] void fail(errc code, const std::string& why) const {
    throw failure{code, doubtful_ ? why + " (the request may have been executed)" : why};
  }

 private:
  runtime::engine& engine_;
  const monotonic_time give_up_at_;
  bool doubtful_ = false;  // a copy was sent whose answer never came
  runtime::blocking_request copy_;
};

class once_request {
 public:
  once_request(runtime::engine& of, const dialects::once_call& asked)
      : engine_(of),
        asked_(asked),
        id_(of.next_request()),
        copies_(of, [this](resp::writer& out, monotonic_time sent_at) { write(out, sent_at); }) {}

  dialects::once_answer run() {
    for (;;) {
      auto verdict = dialects::read_once(copies_.answer());
      if (auto* answer = std::get_if<dialects::once_answer>(&verdict)) {
        copies_.learn(answer->now);
        return std::move(*answer);
      }
      if (auto* why = std::get_if<dialects::refused>(&verdict)) {
        copies_.fail(why->code, why->detail);
      }
      too_late(std::get<dialects::late>(verdict));
    }
  }

 private:
  // All copies carry the same not-after: so long is the answer remembered.
  void write(resp::writer& out, monotonic_time sent_at) {
    if (!not_after_) {
      const auto left = std::chrono::floor<microseconds>(copies_.give_up_at() - sent_at);
      not_after_ = std::min(engine_.estimate(sent_at) + left, leasing::far_future);
    }
    dialects::write_once(asked_, id_, *not_after_, out);
  }

  // Our idea of the server's time was behind. Unless another copy is under way we may begin anew.
  void too_late(const dialects::late& server) {
    copies_.learn(server.now);
    if (copies_.is_doubtful() || copies_.is_over()) {
      copies_.fail(errc::unavailable, "the request reached the server too late to be executed");
    }
    not_after_.reset();
  }

  runtime::engine& engine_;
  const dialects::once_call& asked_;
  const request_id id_;
  std::optional<server_time> not_after_;
  patient_request copies_;
};

}  // namespace

resp::value ask_again(runtime::client_core& core, const std::function<void(resp::writer&)>& write) {
  core.check_process();
  patient_request asked(core.engine(), [&](resp::writer& out, monotonic_time) { write(out); });
  return asked.answer();
}

dialects::once_answer ask_once(runtime::client_core& core, const dialects::once_call& asked) {
  core.check_process();
  return once_request(core.engine(), asked).run();
}

}  // namespace holdfast::api
