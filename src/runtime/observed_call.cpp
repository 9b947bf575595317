#include "runtime/observed_call.hpp"

#include <optional>
#include <utility>

#include "net/clock.hpp"
#include "runtime/observed_holding.hpp"
#include "runtime/reporter.hpp"

namespace holdfast::runtime {
namespace {

// From asking to the answer. Where it ends without one, something was thrown.
class observed_call {
 public:
  observed_call(engine& of, const lock_source& source)
      : engine_(of), source_(source), asked_at_(net::now()) {
    tell({.type = event_type::asked});
  }
  ~observed_call() {
    if (!is_answered_) tell_refused(std::nullopt, false);
  }
  observed_call(const observed_call&) = delete;
  observed_call& operator=(const observed_call&) = delete;

  acquired answer(acquired how, bool waits) {
    auto* const got = std::get_if<grant>(&how);
    if (got == nullptr) {
      const auto why = *std::get<leasing::outcome>(how).code;
      refuse(why, waits && (why == errc::timed_out || why == errc::cancelled));
      return how;
    }
    const auto kind = source_.kind();
    const auto now = net::now();
    std::shared_ptr<observed_holding> observed;
    if (has_holders(kind)) {
      keep_or_give_back(
          *got, [&] { observed = std::make_shared<observed_holding>(engine_, kind, *got, now); });
      got->of = observed;
    }
    is_answered_ = true;
    const event said{.type = event_type::granted,
                     .name = source_.name(),
                     .kind = kind,
                     .token = fencing_token{got->token},
                     .duration = now - asked_at_,
                     .waited = got->waited};
    if (observed) observed->log(said);
    engine_.tell(said);
    if (observed) keep_or_give_back(*got, [&] { observed->listen(); });
    return how;
  }

  bool is_answered() const noexcept { return is_answered_; }
  void refuse(errc why, bool waited) {
    is_answered_ = true;
    tell_refused(why, waited);
  }

 private:
  void tell_refused(std::optional<errc> why, bool waited) {
    tell({.type = event_type::refused,
          .duration = net::now() - asked_at_,
          .waited = waited,
          .error = why});
  }
  void tell(event what) {
    what.name = source_.name();
    what.kind = source_.kind();
    engine_.tell(what);
  }

  engine& engine_;
  const lock_source& source_;
  const monotonic_time asked_at_;
  bool is_answered_ = false;
};

class observed_acquisition final : public acquisition {
 public:
  observed_acquisition(engine& of, std::shared_ptr<lock_source> source)
      : engine_(of), source_(std::move(source)), asked_(source_->ask()) {}

  bool begin(leasing::patience patience, std::stop_token stop, const listener& who) override {
    call_.emplace(engine_, *source_);
    waits_ = patience.waits && !stop.stop_requested();
    try {
      // A continuation may run, and end this object, before it returns.
      return asked_->begin(patience, std::move(stop), who);
    } catch (const failure& why) {
      call_->refuse(why.reason(), false);
      throw;
    } catch (...) {
      call_.reset();  // tells it
      throw;
    }
  }
  acquired finish() override { return call_->answer(asked_->finish(), waits_); }
  void abandon() override {
    asked_->abandon();
    if (call_ && !call_->is_answered()) call_->refuse(errc::cancelled, waits_);
  }

 private:
  engine& engine_;
  const std::shared_ptr<lock_source> source_;
  const std::unique_ptr<acquisition> asked_;
  std::optional<observed_call> call_;
  bool waits_ = false;
};

}  // namespace

acquired wait_observed(engine& of, lock_source& source, leasing::patience patience,
                       std::stop_token stop) {
  observed_call call{of, source};
  const bool waits = patience.waits && !stop.stop_requested();
  try {
    return call.answer(source.wait(patience, std::move(stop)), waits);
  } catch (const failure& why) {
    call.refuse(why.reason(), false);
    throw;
  }
}

std::unique_ptr<acquisition> ask_observed(engine& of, std::shared_ptr<lock_source> source) {
  return std::make_unique<observed_acquisition>(of, std::move(source));
}

}  // namespace holdfast::runtime
