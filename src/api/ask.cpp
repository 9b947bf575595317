#include "api/ask.hpp"

#include "resp/server_error.hpp"
#include "runtime/blocking_request.hpp"

namespace holdfast::api {

resp::value ask(runtime::client_core& core, const std::function<void(resp::writer&)>& write) {
  core.check_process();
  runtime::blocking_request asked([&](resp::writer& out, monotonic_time) { write(out); });
  return asked.run(core.connection()).value();
}

resp::value ask(runtime::client_core& core, std::initializer_list<std::string_view> words) {
  return ask(core, [&](resp::writer& out) {
    out.command(words.size());
    for (const auto word : words) out.arg(word);
  });
}

resp::value answer_to(runtime::client_core& core, std::initializer_list<std::string_view> words) {
  auto answer = ask(core, words);
  if (answer.is(resp::type::error)) {
    const auto error = resp::classify(answer.text);
    throw failure{error.code, error.detail};
  }
  return answer;
}

}  // namespace holdfast::api
