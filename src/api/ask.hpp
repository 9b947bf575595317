// One command and its answer.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "resp/value.hpp"
#include "resp/writer.hpp"
#include "runtime/client_core.hpp"

namespace holdfast::api {

// Sends what `write` writes and waits for the answer; an error reply is an answer. Throws failure
// when there is none. Thread safety: any thread.
resp::value ask(runtime::client_core& core, const std::function<void(resp::writer&)>& write);
resp::value ask(runtime::client_core& core, std::initializer_list<std::string_view> words);

// The same, but an error reply is thrown too.
resp::value answer_to(runtime::client_core& core, std::initializer_list<std::string_view> words);

}  // namespace holdfast::api
