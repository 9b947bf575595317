#include "redis/dialects/holdfast/once.hpp"

#include <array>
#include <utility>

#include "base/lock_key.hpp"
#include "base/printable.hpp"
#include "base/sha1.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {

value_key::value_key(const key_space& space, std::string_view kind, std::string_view name) {
  const lock_key named{space, name};
  key = space.named(kind) + ":{" + named.encoded() + "}";
  slot = named.slot();
}

std::string once_id::text() const {
  std::array<char, 16> digits;
  put_proof(proof, digits.data());
  return std::string{request.text()}.append(":").append(digits.data(), digits.size());
}

void write_once(const key_space& space, const once_call& asked, const once_id& id,
                server_time not_after, resp::writer& out) {
  out.call(asked.script, 1 + asked.keys.size(), 1 + asked.args.size());
  out.arg({space.prefix(), "once:{", slot_tag(asked.slot), "}:", id.text()});
  for (const auto& key : asked.keys) out.arg(key);
  out.arg(not_after.time_since_epoch().count());
  for (const auto& arg : asked.args) out.arg(arg);
}

once_verdict read_once(const resp::value& v) {
  if (auto too_late = read_late(v)) return *too_late;
  const std::string_view text = leading_word(v);
  if (text.empty() || v.items.size() != 2) return refused_or_not_understood("a value's script", v);
  const auto now = read_time(v.items[1]);
  if (!now) return not_understood("a value's script", v);
  const auto space = text.find(' ');
  if (space == text.npos) return once_answer{std::string{text}, {}, *now};
  return once_answer{std::string{text.substr(0, space)}, std::string{text.substr(space + 1)}, *now};
}

std::optional<server_time> time_in(const once_verdict& verdict) noexcept {
  if (const auto* answer = std::get_if<once_answer>(&verdict)) return answer->now;
  if (const auto* too_late = std::get_if<late>(&verdict)) return too_late->now;
  return std::nullopt;
}

refused not_a(const value_key& value, std::string_view what) {
  return {errc::foreign_key, false,
          "the key " + printable(value.key) + " holds something that is not a " +
              std::string{what} + "; choose another name or remove that key"};
}

refused unknown_answer(const once_answer& answer) {
  return {errc::server_error, false,
          "the answer of a value's script cannot be understood: " + printable(answer.word)};
}

composed_script::composed_script(const resp::script& around, std::string_view body)
    : name_(around.name), text_(around.text) {
  constexpr std::string_view hole = "--@body";
  text_.replace(text_.find(hole), hole.size(), body);
  sha1_ = sha1_hex(text_);
}

}  // namespace holdfast::dialects
