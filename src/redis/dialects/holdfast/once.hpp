// Requests that the server executes once, however many copies of them arrive: the first copy leaves
// its answer under the request's id until no copy can be executed any more (parts/once.lua).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/key_space.hpp"
#include "base/request_id.hpp"
#include "redis/dialects/recipe.hpp"
#include "substrate/once_verdict.hpp"

namespace holdfast::dialects {

using substrate::once_answer;
using substrate::once_verdict;

// The key of a value: `<kind>:{N}` in its key space, N as for locks.
struct value_key {
  // Throws failure{errc::invalid_name} as lock_key does.
  value_key(const key_space&, std::string_view kind, std::string_view name);

  std::string key;
  std::uint16_t slot;
};

// The request. All keys are of one hash slot; the script's own first key and first argument (where
// the answer is remembered, and until when) are added to these.
struct once_call {
  resp::script script;
  std::uint16_t slot = 0;
  std::vector<std::string> keys;
  std::vector<std::string> args;
};

// Which request it is, in all its copies. The answer is remembered under both: other users of the
// server may write such keys, and know which request comes next, but not its proof. So they cannot
// leave an answer there before the request is executed.
struct once_id {
  once_id(const request_id& asks, std::uint64_t with = 0) noexcept : request(asks), proof(with) {}
  std::string text() const;
  request_id request;
  std::uint64_t proof;
};

// One copy. The server refuses it after `not_after`, which is the same in all copies.
void write_once(const key_space&, const once_call&, const once_id&, server_time not_after,
                resp::writer&);

once_verdict read_once(const resp::value&);

// When the server said it, unless it refused.
std::optional<server_time> time_in(const once_verdict&) noexcept;

// For those who read answers.
refused not_a(const value_key&, std::string_view what);  // "counter"
refused unknown_answer(const once_answer&);

// A script of ours around a piece of Lua that the user wrote.
class composed_script {
 public:
  // The piece takes the place of the line `--@body`.
  composed_script(const resp::script& around, std::string_view body);
  resp::script script() const noexcept { return {name_, text_, sha1_}; }

 private:
  std::string_view name_;
  std::string text_;
  std::string sha1_;
};

}  // namespace holdfast::dialects
