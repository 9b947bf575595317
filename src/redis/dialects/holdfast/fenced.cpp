#include "redis/dialects/holdfast/fenced.hpp"

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

std::optional<fencing_token> read_token(std::string_view text) noexcept {
  const auto number = parse_number<std::uint64_t>(text);
  return number ? std::optional(fencing_token{*number}) : std::nullopt;
}

}  // namespace

composed_script fenced_script(std::string_view body) { return {scripts::holdfast_fenced, body}; }

once_call fenced_write(const key_space& space, const composed_script& script,
                       const std::vector<std::string>& keys, const std::vector<std::string>& args,
                       fencing_token token) {
  once_call asked{script.script(), hash_slot(keys.front()), {}, {token.to_string()}};
  const std::string before = space.named("fenced:{") + slot_tag(asked.slot) + "}:";
  for (const auto& key : keys) asked.keys.push_back(before + key);
  asked.keys.insert(asked.keys.end(), keys.begin(), keys.end());
  asked.args.insert(asked.args.end(), args.begin(), args.end());
  return asked;
}

std::variant<fence_passed, fence_stale, refused> read_fenced(const once_answer& answer) {
  if (answer.word == "done") return fence_passed{};
  if (answer.word == "text") return fence_passed{answer.rest};
  if (answer.word == "stale") {
    if (const auto last = read_token(answer.rest)) return fence_stale{*last};
  }
  if (answer.word == "failed") {
    refused why = refused_by_server(answer.rest);
    why.detail = "the server accepted the token, but the write failed: " + why.detail;
    return why;
  }
  if (answer.word == "foreign") {
    return refused{errc::foreign_key, false,
                   "a key hf:fenced:... of a fenced write holds something that is not a token"};
  }
  return unknown_answer(answer);
}

}  // namespace holdfast::dialects
