#include "redis/calls/ask.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::calls {
namespace {

resp::value ask(runtime::client_core& core, redis::connection& over, const writing& write,
                const bound& within) {
  core.check_process();
  redis_locks::blocking_request asked([&](resp::writer& out, monotonic_time) { write(out); });
  return asked.run(over, one_trip(core, within)).value();
}

resp::value not_refused(resp::value answer) {
  if (!answer.is(resp::type::error)) return answer;
  const auto error = resp::classify(answer.text);
  throw failure{error.code, error.detail};
}

}  // namespace

bound one_trip(runtime::client_core& core, const bound& within) {
  const auto& options = redis_locks::engine_of(core).options();
  const auto ends = net::now() + options.connect_timeout + options.response_timeout;
  return {.ends = std::min(ends, within.ends), .stop = within.stop.value_or(options.stop)};
}

resp::value ask(runtime::client_core& core, std::uint16_t slot, const writing& write,
                const bound& within) {
  return ask(core, redis_locks::engine_of(core).connection(slot), write, within);
}

resp::value ask(runtime::client_core& core, std::uint16_t slot, words what, const bound& within) {
  return ask(core, redis_locks::engine_of(core).connection(slot), what, within);
}

resp::value ask(runtime::client_core& core, redis::connection& over, words what,
                const bound& within) {
  const auto write = [&](resp::writer& out) {
    out.command(what.size());
    for (const auto word : what) out.arg(word);
  };
  return ask(core, over, write, within);
}

resp::value no_answer(std::string why) {
  resp::value none;
  none.kind = resp::type::error;
  none.text = std::move(why);
  return none;
}

resp::value answer_to(runtime::client_core& core, std::uint16_t slot, words what,
                      const bound& within) {
  return not_refused(ask(core, slot, what, within));
}

resp::value answer_to(runtime::client_core& core, redis::connection& over, words what,
                      const bound& within) {
  return not_refused(ask(core, over, what, within));
}

}  // namespace holdfast::calls
