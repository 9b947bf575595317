#include "redis/dialects/recognition.hpp"

#include <algorithm>
#include <array>

#include "base/never_destroyed.hpp"
#include "base/number.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/redis_semaphore/redis_semaphore_recipe.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"
#include "redis/dialects/shedlock/shedlock_recipe.hpp"
#include "redis/dialects/symfony/symfony_recipe.hpp"
#include "redis/dialects/token/token_recipe.hpp"

namespace holdfast::dialects {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_alphanumeric(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_base64(char c) { return is_alphanumeric(c) || c == '+' || c == '/'; }

template <typename Fits>
bool consists_of(std::string_view text, std::size_t size, Fits fits) {
  return text.size() == size && std::ranges::all_of(text, fits);
}

bool is_uuid_of(std::string_view text, bool (*fits)(char)) {
  if (text.size() != 36) return false;
  std::string digits(text);
  for (const std::size_t at : {8, 13, 18, 23}) {
    if (text[at] != '-') return false;
  }
  std::erase(digits, '-');
  return consists_of(digits, 32, fits);
}

bool is_uuid(std::string_view text) { return is_uuid_of(text, is_hex); }

// Python's uuid1().hex, as redis-py draws it.
bool is_uuid1(std::string_view digits) {
  return consists_of(digits, 32, is_hex) && digits[12] == '1' &&
         std::string_view("89ab").find(digits[16]) != std::string_view::npos;
}

bool is_token(std::string_view text) { return consists_of(text, 32, is_hex); }
bool is_id_of_go_zero(std::string_view text) { return consists_of(text, 16, is_alphanumeric); }
bool is_id_in_base64(std::string_view text) { return consists_of(text, 24, is_base64); }
// 16 bytes; the last letter stands for two bits.
bool is_value_of_redsync(std::string_view text) {
  return text.ends_with("==") && consists_of(text.substr(0, text.size() - 2), 22, is_base64) &&
         std::string_view("AQgw").find(text[21]) != std::string_view::npos;
}

bool is_hex_of_any_case(char c) { return is_hex(c) || (c >= 'A' && c <= 'F'); }
bool is_base64_of_urls(char c) { return is_alphanumeric(c) || c == '-' || c == '_'; }
// 20 bytes, drawn at random: seldom is each of them a character.
bool is_value_of_rslock(std::string_view text) {
  return text.size() == 20 && std::ranges::any_of(text, [](char c) { return c < ' ' || c > '~'; });
}
// 16 bytes, as bsm/redislock writes them.
bool is_value_of_redislock(std::string_view text) {
  return consists_of(text, 22, is_base64_of_urls) &&
         std::string_view("AQgw").find(text[21]) != std::string_view::npos;
}

// Whether the text looks drawn at random, as holders of locks draw it.
bool is_drawn(std::string_view text) {
  return is_uuid_of(text, is_hex_of_any_case) || consists_of(text, 32, is_hex_of_any_case) ||
         consists_of(text, 40, is_hex) || is_value_of_redislock(text) ||
         is_value_of_redsync(text) || is_value_of_rslock(text) || is_id_in_base64(text);
}

// Locks that are one text, whose name says no more than `prefix`.
struct text_form {
  std::string_view dialect;
  std::string_view prefix;
  bool (*is_value)(std::string_view);
  bool can_be_without_end;  // the library's own default
};

constexpr std::array text_forms = {
    text_form{"python_redis_lock", "lock:", is_id_in_base64, true},
    text_form{"reentrant_thread_local", "LOCK_", is_uuid, false},
    text_form{"redis_py", "", is_token, false},
    text_form{"redis_py", "", is_uuid1, true},
    text_form{"go_zero", "", is_id_of_go_zero, false},
    text_form{"redlock", "", is_value_of_redsync, false},
};

using verdict = std::optional<recognised>;

// UUID:THREAD -> holds, of a lock that only one can hold.
std::optional<foreign_holder> holder_of_redisson(const std::string& owner, std::string_view value) {
  const auto holds = parse_number<std::uint64_t>(value);
  const auto client = std::string_view(owner).substr(0, owner.find(':'));
  if (!holds || !is_uuid(client)) return std::nullopt;
  return foreign_holder{.owner = owner, .holds = *holds};
}

// One holder, or a mode and its holders: a writer may also hold the lock as a reader.
verdict as_redisson(const kept& what) {
  static const never_destroyed<redisson_recipe> layout;
  foreign_holders all;
  for (std::size_t i = 0; i < what.words.size(); i += 2) {
    if (what.words[i] == "mode") continue;
    auto one = holder_of_redisson(what.words[i], what.words[i + 1]);
    if (!one) return std::nullopt;
    one->remaining = what.remaining;
    all.push_back(*std::move(one));
  }
  if (all.empty()) return std::nullopt;
  const bool has_modes = all.size() < what.words.size() / 2;
  for (auto& one : all) {
    if (has_modes) one.mode = one.owner.ends_with(redisson_writer) ? 'x' : 'r';
  }
  return recognised{"redisson", std::string(what.key), &*layout, std::move(all)};
}

// base64 of 32 bytes; the last letter stands for four bits.
bool is_token_of_symfony(std::string_view text) {
  return text.ends_with('=') && consists_of(text.substr(0, text.size() - 1), 43, is_base64) &&
         std::string_view("AEIMQUYcgkosw048").find(text[42]) != std::string_view::npos;
}

// A permit of a Semaphore, or one of several of a MultiSemaphore. Its maker may have added more.
bool is_permit_of_redis_semaphore(std::string_view text) {
  return is_uuid(text.substr(0, 36)) && (text.size() == 36 || text[36] == '_' || text[36] == '-');
}

// A holder of what a sorted set has, `none` where it is no member of such a lock.
std::optional<foreign_holder> holder_in_set(const std::string& member, std::string_view time) {
  const auto left = parse_number<std::int64_t>(time);
  if (!left) return std::nullopt;
  return foreign_holder{.owner = member, .remaining = milliseconds{*left}};
}

// TOKEN -> when its lease ends, and perhaps __write__ beside it.
verdict as_symfony(const kept& what) {
  static const never_destroyed<symfony_recipe> layout{foreign_recipe::habits{.name = "symfony"},
                                                      std::string{}};
  constexpr std::string_view writer = "__write__";
  foreign_holders all;
  char mode = 'r';
  for (std::size_t i = 0; i < what.words.size(); i += 2) {
    if (what.words[i] == writer) {
      mode = 'x';
      continue;
    }
    auto one = holder_in_set(what.words[i], what.words[i + 1]);
    if (!one || !is_token_of_symfony(one->owner)) return std::nullopt;
    if (*one->remaining > milliseconds{0}) all.push_back(*std::move(one));
  }
  for (auto& one : all) one.mode = mode;
  if (all.empty()) return std::nullopt;
  return recognised{"symfony", std::string(what.key), &*layout, std::move(all)};
}

// semaphore:NAME. How long its users let a permit stay, does not stand there: the key ends then.
verdict as_redis_semaphore(const kept& what) {
  static const never_destroyed<redis_semaphore_recipe> layout{
      foreign_recipe::habits{.name = "redis_semaphore"}};
  constexpr std::string_view prefix = "semaphore:";
  if (!what.key.starts_with(prefix)) return std::nullopt;
  foreign_holders all;
  for (std::size_t i = 0; i < what.words.size(); i += 2) {
    auto one = holder_in_set(what.words[i], what.words[i + 1]);
    if (!one || !is_permit_of_redis_semaphore(one->owner)) return std::nullopt;
    one->remaining = what.remaining;
    one->mode = 's';
    all.push_back(*std::move(one));
  }
  if (all.empty()) return std::nullopt;
  return recognised{"redis_semaphore", std::string(what.key.substr(prefix.size())), &*layout,
                    std::move(all)};
}

verdict recognise_set(const kept& what) {
  auto found = as_redis_semaphore(what);
  return found ? std::move(found) : as_symfony(what);
}

recognised as_text(const kept& what, std::string dialect, std::string_view name) {
  static const never_destroyed<token_recipe> layout{foreign_recipe::habits{.name = "token"},
                                                    token_texts{}};
  return {std::move(dialect),
          std::string(name),
          &*layout,
          {{.owner = what.words[0], .remaining = what.remaining}}};
}

// job-lock:ENVIRONMENT:NAME, and ADDED:TIME@HOST.
verdict as_shedlock(const kept& what) {
  static const never_destroyed<shedlock_recipe> layout{foreign_recipe::habits{.name = "shedlock"},
                                                       std::string{}, std::string{}};
  constexpr std::string_view prefix = "job-lock:";
  const std::string& value = what.words[0];
  const auto colon = what.key.find(':', prefix.size());
  if (!what.key.starts_with(prefix) || colon == what.key.npos) return std::nullopt;
  if (!value.starts_with("ADDED:") || value.find('@') == value.npos) return std::nullopt;
  const std::string environment(what.key.substr(prefix.size(), colon - prefix.size()));
  auto found = as_text(what, environment == "default" ? "shedlock" : "shedlock:" + environment,
                       what.key.substr(colon + 1));
  found.layout = &*layout;
  return found;
}

// Many libraries write such a text. The key is the name then, which the dialect `token` asks for.
verdict as_unknown(const kept& what) {
  const std::string& value = what.words[0];
  if (!is_drawn(value)) return std::nullopt;
  auto found = as_text(what, "token", what.key);
  found.remark = "plain lock, library unknown";
  const auto colon = what.key.find(':');
  const bool may_be_springs =
      colon != what.key.npos && colon > 0 && colon + 1 < what.key.size() && is_uuid(value);
  if (may_be_springs) {
    found.remark += "; perhaps spring_integration:" + std::string(what.key.substr(0, colon));
  }
  return found;
}

constexpr std::string_view rueidislock_prefix = "rueidislock:";

// rueidislock:NUMBER:NAME. The lock is told with its first key, which its library takes first.
verdict as_rueidislock(const kept& what) {
  const auto behind = what.key.substr(rueidislock_prefix.size());
  if (!behind.starts_with("0:") || !what.remaining) return std::nullopt;
  return as_text(what, "rueidislock", behind.substr(2));
}

verdict as_one_of_the_forms(const kept& what) {
  for (const auto& form : text_forms) {
    const bool may_last = what.remaining || form.can_be_without_end;
    if (may_last && what.key.starts_with(form.prefix) && form.is_value(what.words[0])) {
      return as_text(what, std::string(form.dialect), what.key.substr(form.prefix.size()));
    }
  }
  return std::nullopt;
}

verdict recognise_text(const kept& what) {
  if (what.key.starts_with(rueidislock_prefix)) return as_rueidislock(what);
  if (auto found = as_shedlock(what)) return found;
  if (auto found = as_one_of_the_forms(what)) return found;
  return as_unknown(what);
}

verdict recognise_in_its_type(const kept& what) {
  switch (what.type) {
    case kept_as::text:
      return recognise_text(what);
    case kept_as::hash:
      return as_redisson(what);
    case kept_as::sorted_set:
      return recognise_set(what);
  }
  return std::nullopt;
}

std::optional<kept> read_kept(std::string_view key, const resp::value& v) {
  if (!v.is(resp::type::array) || v.items.size() < 3 || !v.items[0].is_text()) return std::nullopt;
  kept what{.key = key};
  if (v.items[0].text == "hash") what.type = kept_as::hash;
  if (v.items[0].text == "zset") what.type = kept_as::sorted_set;
  const bool is_text = what.type == kept_as::text;
  const bool is_whole = is_text ? v.items.size() == 3 : v.items.size() % 2 == 0;
  if (!is_whole) return std::nullopt;
  what.remaining = read_ttl(v.items[1]);
  for (std::size_t i = 2; i < v.items.size(); ++i) what.words.push_back(v.items[i].text);
  return what;
}

}  // namespace

std::optional<recognised> recognise(const kept& what) {
  auto found = recognise_in_its_type(what);
  return found && found->name.empty() ? std::nullopt : std::move(found);
}

std::vector<std::string> keys_of(std::string_view name) {
  constexpr std::array<std::array<std::string_view, 2>, 9> around = {{{"", ""},
                                                                      {"lock:", ""},
                                                                      {"LOCK_", ""},
                                                                      {"job-lock:default:", ""},
                                                                      {"rueidislock:0:", ""},
                                                                      {"mutex:", ""},
                                                                      {"redlock:", ""},
                                                                      {"semaphore:", ""},
                                                                      {"", ":lock"}}};
  std::vector<std::string> all;
  for (const auto& [before, behind] : around) {
    all.push_back(std::string(before) + std::string(name) + std::string(behind));
  }
  return all;
}

std::optional<recognised> recognise_for(std::string_view name, const kept& what) {
  if (auto found = recognise(what)) return found;
  if (what.type != kept_as::text || what.key.empty() || what.key != name) return std::nullopt;
  auto found = as_text(what, "token", what.key);
  found.remark = "a text, perhaps a plain lock";
  return found;
}

void write_look(std::span<const std::string> keys, resp::writer& out) {
  out.call(scripts::foreign_look, keys.size(), 0);
  for (const auto& key : keys) out.arg(key);
}

std::variant<std::vector<kept>, refused> read_look(std::span<const std::string> keys,
                                                   const resp::value& reply) {
  if (!reply.is(resp::type::array) || reply.items.size() != keys.size()) {
    return refused_or_not_understood("look", reply);
  }
  std::vector<kept> all;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (auto one = read_kept(keys[i], reply.items[i])) all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace holdfast::dialects
