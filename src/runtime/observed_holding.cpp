#include "runtime/observed_holding.hpp"

#include <utility>

#include "net/clock.hpp"

namespace holdfast::runtime {

observed_holding::observed_holding(engine& of, lock_kind kind, const grant& got,
                                   monotonic_time granted_at)
    : engine_(of), what_(got.of), token_(got.token), granted_at_(granted_at), kind_(kind) {}

observed_holding::~observed_holding() {
  // A thread of the parent may have been at work on it, and would be waited for.
  if (!engine_.is_in_its_process()) (void)loss_.release();
}

void observed_holding::listen() {
  loss_ = std::make_unique<std::stop_callback<loss>>(what_->lost(), loss{this});
}

event observed_holding::ending(event_type how) const noexcept {
  return {.type = how,
          .name = what_->name(),
          .kind = kind_,
          .token = token_,
          .duration = net::now() - granted_at_};
}

void observed_holding::on_lost() noexcept {
  if (!ends()) return;
  const auto said = ending(event_type::lost);
  log(said);
  engine_.report(said);
}

void observed_holding::log(const event& what) noexcept {
  if (auto* const grants = engine_.grants()) grants->note(what, *what_, granted_at_);
}

result<void> observed_holding::tell_released(result<void> how) {
  if (!ends()) return how;
  auto said = ending(event_type::released);
  if (!how) said.error = how.error().reason();
  if (said.error == errc::lost) said = ending(event_type::lost);
  log(said);
  engine_.tell(said);
  return how;
}

bool observed_holding::give_back(const listener& who) {
  // A continuation may run, and end this object, before it returns.
  if (who.exists() && what_->give_back(who)) return true;
  if (!who.exists()) give_back_unheard();
  (void)tell_released({});
  return false;
}

// Nobody will learn how it went. It was lost if it had ended before.
void observed_holding::give_back_unheard() {
  const bool was_lost = !what_->held() && !what_->was_replaced();
  what_->give_back({});
  if (was_lost) (void)tell_released(errc::lost);
}

result<void> observed_holding::take_released() { return tell_released(what_->take_released()); }

result<void> observed_holding::give_back_and_wait() {
  return tell_released(what_->give_back_and_wait());
}

const std::shared_ptr<holding>& bare(const std::shared_ptr<holding>& one) noexcept {
  const auto* const observed = dynamic_cast<const observed_holding*>(one.get());
  return observed == nullptr ? one : observed->what();
}

}  // namespace holdfast::runtime
