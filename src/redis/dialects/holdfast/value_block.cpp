#include "redis/dialects/holdfast/value_block.hpp"

#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

std::string value_block_key(const lock_key& key) { return key.value_key() + ":v"; }

}  // namespace

once_call value_block_write(const claim& held, std::string_view bytes) {
  return {scripts::holdfast_value_block,
          held.key->slot(),
          {held.key->value_key(), value_block_key(*held.key)},
          {std::string{held.owner.text()}, std::to_string(held.granted), std::string{bytes}}};
}

std::variant<bool, refused> read_value_block_written(const once_answer& answer) {
  if (answer.word == "written") return true;
  if (answer.word == "lost") return false;
  return unknown_answer(answer);
}

void write_value_block_query(const lock_key& key, resp::writer& out) {
  out.command(2);
  out.arg("GET");
  out.arg(value_block_key(key));
}

std::variant<std::string, refused> read_value_block(const lock_key& key, const resp::value& reply) {
  if (reply.is(resp::type::null)) return std::string{};
  if (!reply.is_text()) return refused_or_not_understood("GET", reply);
  const auto colon = reply.text.find(':');
  if (colon == std::string::npos) {
    return refused{errc::foreign_key, false,
                   "the key '" + printable(value_block_key(key)) + "' holds no value block"};
  }
  return reply.text.substr(colon + 1);
}

}  // namespace holdfast::dialects
