#include "lease/once_machine.hpp"

#include <utility>

#include "lease/server_clock.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

server_time once_machine::not_after(moment now) noexcept {
  if (not_after_) return *not_after_;
  // Such a copy goes to a server that has not said its time: it sends it on to another one, or
  // says its time now (parts/once.lua).
  if (now.server >= far_future) return far_future;
  not_after_ = now.server + std::chrono::floor<microseconds>(give_up_at_ - now.local);
  return *not_after_;
}

std::optional<once_machine::end> once_machine::on_verdict(substrate::once_verdict verdict,
                                                          monotonic_time now) {
  if (auto* answer = std::get_if<substrate::once_answer>(&verdict)) return std::move(*answer);
  if (auto* why = std::get_if<substrate::refused>(&verdict)) {
    return failed({why->code, std::move(why->detail)});
  }
  if (doubtful_ || now >= give_up_at_) {
    return failed({errc::unavailable, "the request reached the server too late to be executed"});
  }
  not_after_.reset();
  return std::nullopt;
}

std::optional<outcome> once_machine::on_missing(no_answer how, outcome why, monotonic_time now) {
  doubtful_ = doubtful_ || how == no_answer::unknown;
  const bool hopeless = why.code != errc::unavailable || how == no_answer::unreachable;
  if (hopeless || now >= give_up_at_) return failed(std::move(why));
  return std::nullopt;
}

outcome once_machine::failed(outcome why) const {
  if (doubtful_) why.detail += " (the request may have been executed)";
  return why;
}

}  // namespace holdfast::leasing
