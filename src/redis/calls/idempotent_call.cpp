#include "redis/calls/idempotent_call.hpp"

#include <string>
#include <utility>

#include "lease/once_machine.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/calls/wait_till.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::calls {
namespace {

bound shorter(runtime::client_core& core, bound within) {
  if (!within.stop) within.stop = redis_locks::engine_of(core).options().stop;
  const auto usual = usual_bound(core).ends;
  if (within.ends < usual) return within;
  return {usual, std::move(within.stop)};
}

[[noreturn]] void fail(const leasing::outcome& how, const bound& within) {
  const bool is_over = how.code == errc::unavailable && net::now() >= within.ends;
  throw failure{is_over ? within.at_end : *how.code, how.detail};
}

// The slot of a cluster is being moved, or has no master for the moment: nothing was executed.
bool will_pass(const resp::value& reply) {
  return reply.is(resp::type::error) &&
         (reply.text.starts_with("TRYAGAIN") || reply.text.starts_with("CLUSTERDOWN"));
}

// Sends copies until one is answered, the machine has enough, or the time is over.
resp::value answer(runtime::client_core& core, std::uint16_t slot,
                   redis_locks::blocking_request& copy, leasing::once_machine& machine,
                   const bound& within) {
  constexpr milliseconds pause{20};
  for (;;) {
    auto reply = copy.run(redis_locks::engine_of(core).connection(slot), within);
    if (reply && will_pass(*reply)) {
      if (net::now() + pause < within.ends) wait_till(net::now() + pause, *within.stop);
      // Sent without time for an answer, it would only hide why it was refused.
      if (net::now() + pause < within.ends) continue;
    }
    if (reply) return *std::move(reply);
    const auto& why = copy.breakdown();
    const auto end = machine.on_missing(copy.why_unanswered(), {why.code, why.detail}, net::now());
    if (end) fail(*end, within);
  }
}

}  // namespace

bound usual_bound(runtime::client_core& core) {
  const auto& options = redis_locks::engine_of(core).options();
  return {net::now() + options.connect_timeout + 2 * options.response_timeout};
}

resp::value ask_again(runtime::client_core& core, std::uint16_t slot,
                      const std::function<void(resp::writer&)>& write, const bound& within) {
  core.check_process();
  const auto limit = shorter(core, within);
  leasing::once_machine machine(limit.ends);
  redis_locks::blocking_request copy([&](resp::writer& out, monotonic_time) { write(out); });
  return answer(core, slot, copy, machine, limit);
}

substrate::once_answer ask_once(runtime::client_core& core, const dialects::once_call& asked,
                                const bound& within) {
  core.check_process();
  auto& engine = redis_locks::engine_of(core);
  const request_id request = engine.next_request();
  const dialects::once_id id{request, engine.proof_of(request.counter())};
  const auto limit = shorter(core, within);
  leasing::once_machine machine(limit.ends);
  redis_locks::blocking_request copy([&](resp::writer& out, monotonic_time sent_at) {
    const auto not_after = machine.not_after(engine.clock(asked.slot).at(sent_at));
    dialects::write_once(engine.space(), asked, id, not_after, out);
  });
  for (;;) {
    auto verdict = dialects::read_once(answer(core, asked.slot, copy, machine, limit));
    const auto now = net::now();
    if (const auto said = dialects::time_in(verdict)) {
      engine.clock(asked.slot).learn(copy.sent_at(), now, *said);
    }
    auto end = machine.on_verdict(std::move(verdict), now);
    if (!end) continue;
    if (const auto* failed = std::get_if<leasing::outcome>(&*end)) fail(*failed, limit);
    return std::get<substrate::once_answer>(*std::move(end));
  }
}

resp::value ask_in_time(runtime::client_core& core, std::uint16_t slot,
                        const std::function<void(resp::writer&, server_time)>& write,
                        const bound& within) {
  core.check_process();
  auto& engine = redis_locks::engine_of(core);
  const auto limit = shorter(core, within);
  leasing::once_machine when_late(limit.ends);
  redis_locks::blocking_request asked([&](resp::writer& out, monotonic_time sent_at) {
    const auto sent = engine.clock(slot).at(sent_at);
    write(out, leasing::not_after(sent, engine.options().response_timeout));
  });
  for (;;) {
    leasing::once_machine without_answer(net::now());  // has no patience
    auto reply = answer(core, slot, asked, without_answer, limit);
    const auto too_late = dialects::read_late(reply);
    if (!too_late) return reply;
    const auto now = net::now();
    engine.clock(slot).learn(asked.sent_at(), now, too_late->now);
    if (const auto end = when_late.on_verdict(*too_late, now)) {
      fail(std::get<leasing::outcome>(*end), limit);
    }
  }
}

}  // namespace holdfast::calls
