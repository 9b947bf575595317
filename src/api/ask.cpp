#include "api/ask.hpp"

#include <utility>

#include "resp/server_error.hpp"
#include "runtime/blocking_request.hpp"

namespace holdfast::api {
namespace {

resp::value ask(runtime::client_core& core, redis::connection& over, const writing& write) {
  core.check_process();
  runtime::blocking_request asked([&](resp::writer& out, monotonic_time) { write(out); });
  return asked.run(over).value();
}

resp::value not_refused(resp::value answer) {
  if (!answer.is(resp::type::error)) return answer;
  const auto error = resp::classify(answer.text);
  throw failure{error.code, error.detail};
}

}  // namespace

resp::value ask(runtime::client_core& core, std::uint16_t slot, const writing& write) {
  return ask(core, core.engine().connection(slot), write);
}

resp::value ask(runtime::client_core& core, std::uint16_t slot, words what) {
  return ask(core, core.engine().connection(slot), what);
}

resp::value ask(runtime::client_core& core, redis::connection& over, words what) {
  return ask(core, over, [&](resp::writer& out) {
    out.command(what.size());
    for (const auto word : what) out.arg(word);
  });
}

resp::value no_answer(std::string why) {
  resp::value none;
  none.kind = resp::type::error;
  none.text = std::move(why);
  return none;
}

resp::value answer_to(runtime::client_core& core, std::uint16_t slot, words what) {
  return not_refused(ask(core, slot, what));
}

resp::value answer_to(runtime::client_core& core, redis::connection& over, words what) {
  return not_refused(ask(core, over, what));
}

}  // namespace holdfast::api
