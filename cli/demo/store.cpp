#include "cli/demo/store.hpp"

#include <poll.h>

#include <charconv>
#include <csignal>
#include <ctime>

namespace holdfast::cli::demo {

std::int64_t now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

void pause_for(int milliseconds) { ::poll(nullptr, 0, milliseconds); }

store::store(const connection_options& server, std::string id)
    : id_(std::move(id)),
      of_locks_(server.key_prefix()),
      of_tenant_(server.tenant_prefix()),
      connection_(server) {
  connection_.bound_answers(server.response_timeout);
}

std::string store::lock_name(const std::string& name) const {
  return "demo:" + id_ + (name.empty() ? "" : ":" + name);
}

raw_connection::reply store::ask(const std::vector<std::string>& words) {
  const std::lock_guard guard(mutex_);
  return connection_.ask(words);
}

std::int64_t store::number(const std::vector<std::string>& words) {
  const auto reply = ask(words);
  if (reply->type == REDIS_REPLY_INTEGER) return reply->integer;
  std::int64_t value = 0;
  if (reply->str != nullptr) std::from_chars(reply->str, reply->str + reply->len, value);
  return value;
}

std::optional<std::string> store::text(const std::vector<std::string>& words) {
  const auto reply = ask(words);
  if (reply->type != REDIS_REPLY_STRING) return std::nullopt;
  return std::string(reply->str, reply->len);
}

std::vector<std::string> store::list(const std::vector<std::string>& words) {
  const auto reply = ask(words);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    all.emplace_back(reply->element[i]->str, reply->element[i]->len);
  }
  return all;
}

bool store::eval_fenced(const std::string& script, const std::vector<std::string>& names,
                        std::uint64_t token, const std::vector<std::string>& arguments) {
  // As text, since a token exceeds what a number of Lua can hold.
  constexpr const char* check = R"lua(
local last = redis.call('GET', KEYS[1])
if last and (#last > #ARGV[1] or (#last == #ARGV[1] and last > ARGV[1])) then return 0 end
redis.call('SET', KEYS[1], ARGV[1])
)lua";
  std::vector<std::string> words = {"EVAL", check + script + " return 1",
                                    std::to_string(names.size() + 1), key("fence")};
  for (const auto& name : names) words.push_back(key(name));
  words.push_back(std::to_string(token));
  words.insert(words.end(), arguments.begin(), arguments.end());
  return number(words) == 1;
}

void store::freeze_if_ordered() {
  // The thread itself: with kill(2) another might take the signal while this one goes on.
  if (take_freeze()) ::raise(SIGSTOP);
}

void store::remove(const std::vector<std::string>& names, const std::vector<std::string>& locks) {
  // Redis answers after it has executed what killed workers had sent before.
  ask({"PING"});
  ask({"DEL", key("freeze"), key("fence")});
  for (const auto& name : names) ask({"DEL", key(name)});
  for (const auto& name : locks) {
    const auto holdfast = of_locks_ + "{" + name + "}";
    ask({"DEL", holdfast, holdfast + ":w", holdfast + ":i"});
  }
}

}  // namespace holdfast::cli::demo
