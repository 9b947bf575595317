#include "api/once.hpp"

#include <string>

#include "api/wait_till.hpp"
#include "dialects/holdfast/answers.hpp"
#include "lease/once_machine.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "runtime/blocking_request.hpp"

namespace holdfast::api {
namespace {

monotonic_time give_up_at(const client_options& options) {
  return net::now() + options.connect_timeout + 2 * options.response_timeout;
}

leasing::missing to_missing(redis::fate what) noexcept {
  if (what == redis::fate::not_sent) return leasing::missing::not_sent;
  if (what == redis::fate::unreachable) return leasing::missing::unreachable;
  return leasing::missing::unknown;
}

[[noreturn]] void fail(const leasing::outcome& how) { throw failure{*how.code, how.detail}; }

// The slot of a cluster is being moved, or has no master for the moment: nothing was executed.
bool will_pass(const resp::value& reply) {
  return reply.is(resp::type::error) &&
         (reply.text.starts_with("TRYAGAIN") || reply.text.starts_with("CLUSTERDOWN"));
}

// Sends copies until one is answered, or the machine has enough.
resp::value answer(runtime::client_core& core, std::uint16_t slot, runtime::blocking_request& copy,
                   leasing::once_machine& machine) {
  constexpr milliseconds pause{20};
  const auto patience_ends = give_up_at(core.engine().options());
  for (;;) {
    auto reply = copy.run(core.engine().connection(slot));
    if (reply && will_pass(*reply) && net::now() + pause < patience_ends) {
      wait_till(net::now() + pause);
      continue;
    }
    if (reply) return *std::move(reply);
    const auto& why = copy.breakdown();
    const auto end =
        machine.on_missing(to_missing(copy.fate()), {why.code, why.detail}, net::now());
    if (end) fail(*end);
  }
}

}  // namespace

resp::value ask_again(runtime::client_core& core, std::uint16_t slot,
                      const std::function<void(resp::writer&)>& write) {
  core.check_process();
  leasing::once_machine machine(give_up_at(core.engine().options()));
  runtime::blocking_request copy([&](resp::writer& out, monotonic_time) { write(out); });
  return answer(core, slot, copy, machine);
}

dialects::once_answer ask_once(runtime::client_core& core, const dialects::once_call& asked) {
  core.check_process();
  auto& engine = core.engine();
  const request_id request = engine.next_request();
  const dialects::once_id id{request, engine.proof_of(request.counter())};
  leasing::once_machine machine(give_up_at(engine.options()));
  runtime::blocking_request copy([&](resp::writer& out, monotonic_time sent_at) {
    const auto not_after = machine.not_after(engine.clock(asked.slot).at(sent_at));
    dialects::write_once(engine.space(), asked, id, not_after, out);
  });
  for (;;) {
    auto verdict = dialects::read_once(answer(core, asked.slot, copy, machine));
    const auto now = net::now();
    if (const auto said = dialects::time_in(verdict)) {
      engine.clock(asked.slot).learn(copy.sent_at(), now, *said);
    }
    auto end = machine.on_verdict(std::move(verdict), now);
    if (!end) continue;
    if (const auto* failed = std::get_if<leasing::outcome>(&*end)) fail(*failed);
    return std::get<dialects::once_answer>(*std::move(end));
  }
}

resp::value ask_in_time(runtime::client_core& core, std::uint16_t slot,
                        const std::function<void(resp::writer&, server_time)>& write) {
  core.check_process();
  auto& engine = core.engine();
  leasing::once_machine when_late(give_up_at(engine.options()));
  runtime::blocking_request asked([&](resp::writer& out, monotonic_time sent_at) {
    const auto sent = engine.clock(slot).at(sent_at);
    write(out, leasing::not_after(sent, engine.options().response_timeout));
  });
  for (;;) {
    leasing::once_machine without_answer(net::now());  // has no patience
    auto reply = answer(core, slot, asked, without_answer);
    const auto too_late = dialects::read_late(reply);
    if (!too_late) return reply;
    const auto now = net::now();
    engine.clock(slot).learn(asked.sent_at(), now, too_late->now);
    if (const auto end = when_late.on_verdict(*too_late, now)) {
      fail(std::get<leasing::outcome>(*end));
    }
  }
}

}  // namespace holdfast::api
