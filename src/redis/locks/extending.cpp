#include "redis/locks/extending.hpp"

#include <variant>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/locks/blocking_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

result<lock_driver::extension_answer> ask_for_extension(redis_engine& owner, const lock_spec& spec,
                                                        const substrate::claim& claim,
                                                        const holding& held,
                                                        milliseconds duration) {
  const auto slot = spec.key.slot();
  substrate::claim longer = claim;
  longer.lease = duration;
  const substrate::claim* const only = &longer;
  const auto timeout = owner.options().response_timeout;
  const bound within{net::now() + owner.options().connect_timeout + timeout};
  blocking_request asked([&](resp::writer& out, monotonic_time sent_at) {
    const auto sent = owner.clock(slot).at(sent_at);
    spec.recipe->write_renew({&only, 1}, leasing::not_after(sent, timeout), out);
  });
  for (bool again = true;; again = false) {
    if (!held.held()) return failure{errc::lost, "the lease had ended before it was extended"};
    auto answer = asked.run(owner.connection(slot), within);
    if (!answer) return answer.error();
    const auto verdict = spec.recipe->read_renew(*answer, 0);
    const auto now = follow_clock_rate(net::now());
    const auto* const late = std::get_if<substrate::late>(&verdict);
    if (late == nullptr) return lock_driver::extension_answer{verdict, asked.sent_at(), now};
    owner.clock(slot).learn(asked.sent_at(), now, late->now);
    if (!again) return failure{errc::clock_skew, "the server finds the request too old"};
  }
}

}  // namespace holdfast::redis_locks
