// Texts and numbers.
#include "simulation/server/answers.hpp"

namespace holdfast::simulation {

value keyspace::on_strings(words command, bool& known) {
  if (command[0] == "SET") return set(command);
  if (command[0] == "MSET") return set_many(command);
  if (command[0] == "INCRBY") return increase(command);
  const bool many = command[0] == "MGET";
  known = many || command[0] == "GET";
  if (!known) return {};
  if (many ? command.size() < 2 : command.size() != 2) return too_few();
  auto all = list();
  for (const auto key : command.subspan(1)) {
    const auto* e = find(key);
    const auto* text = e == nullptr ? nullptr : std::get_if<std::string>(&e->content);
    if (!many && e != nullptr && text == nullptr) return wrong_type();
    all.items.push_back(text == nullptr ? value{} : bulk(*text));
  }
  return many ? all : all.items.front();
}

value keyspace::increase(words command) {
  if (command.size() != 3) return too_few();
  const auto by = integer(command[2]);
  if (!by) return not_an_integer();
  auto* const e = find(command[1]);
  const auto* const text = e == nullptr ? nullptr : std::get_if<std::string>(&e->content);
  if (e != nullptr && text == nullptr) return wrong_type();
  const auto held = text == nullptr ? 0 : integer(*text);
  if (!held) return not_an_integer();
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*held, *by, &sum)) {
    return error("ERR increment or decrement would overflow");
  }
  if (e == nullptr) {
    make(command[1], {.content = std::to_string(sum)});
  } else {
    e->content = std::to_string(sum);
  }
  return number(sum);
}

value keyspace::set_many(words command) {
  if (command.size() < 3 || command.size() % 2 == 0) return too_few();
  for (std::size_t i = 1; i < command.size(); i += 2) {
    make(command[i], {.content = std::string(command[i + 1])});
  }
  return text_of(type::simple, "OK");
}

value keyspace::set(words command) {
  if (command.size() < 3) return too_few();
  bool only_new = false, only_old = false;
  bool get = false, keeps = false;
  std::optional<std::int64_t> expires;
  for (std::size_t i = 3; i < command.size(); ++i) {
    if (command[i] == "NX") {
      only_new = true;
    } else if (command[i] == "XX") {
      only_old = true;
    } else if (command[i] == "GET") {
      get = true;
    } else if (command[i] == "KEEPTTL") {
      keeps = true;
    } else if ((command[i] == "PX" || command[i] == "PXAT") && i + 1 < command.size()) {
      const auto since = command[i] == "PX" ? now_ : 0;
      const auto ms = integer(command[++i]);
      if (!ms) return not_an_integer();
      if (*ms <= 0) return error("ERR invalid expire time in 'set' command");
      expires = since + *ms;
    } else {
      return error("ERR syntax error");
    }
  }
  const auto* before = find(command[1]);
  value old;
  if (get && before != nullptr) {
    const auto* text = std::get_if<std::string>(&before->content);
    if (text == nullptr) return wrong_type();
    old = bulk(*text);
  }
  if (only_new && before != nullptr) return old;
  if (only_old && before == nullptr) return {};
  if (keeps && before != nullptr) expires = before->expires;
  make(command[1], {.content = std::string(command[2]), .expires = expires});
  return get ? old : text_of(type::simple, "OK");
}

}  // namespace holdfast::simulation
