#include "faults/runs/resource.hpp"

#include <stdexcept>

#include "net/clock.hpp"

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;

// KEYS: the register, its log. ARGV: token ("" is not checked), the new number ("" only reads), an
// event of the log without its number. Tokens have more digits than a double, so they are compared
// as texts: first by length. Replies: the number, or nil when refused.
constexpr auto script =
    "local last, mine = redis.call('HGET', KEYS[1], 'token') or '', ARGV[1] "
    "local old = mine ~= '' and (#mine < #last or (#mine == #last and mine < last)) "
    "if mine ~= '' and not old then redis.call('HSET', KEYS[1], 'token', mine) end "
    "if ARGV[2] ~= '' then "
    "  local n = redis.call('HINCRBY', KEYS[1], 'writes', 1) "
    "  redis.call('RPUSH', KEYS[2], ARGV[old and 4 or 3] .. ' value=' .. n) "
    "  if not old then redis.call('HSET', KEYS[1], 'number', ARGV[2]) end "
    "end "
    "if old then return false end "
    "return redis.call('HGET', KEYS[1], 'number') or '0'";

}  // namespace

resource::resource(const std::string& socket, tokens mode)
    : connection_(net::unix_endpoint{socket}), mode_(mode) {}

std::optional<std::uint64_t> resource::read(const std::string& lock, std::uint64_t token) {
  const auto mine = mode_ == tokens::checked ? std::to_string(token) : "";
  const auto reply =
      connection_.command({"EVAL", script, "2", lock, lock + ":log", mine, "", "", ""});
  if (reply.is(resp::type::error)) throw std::runtime_error("resource: " + reply.text);
  if (reply.is(resp::type::null)) return std::nullopt;
  return std::stoull(reply.text);
}

bool resource::write(const event& by, std::uint64_t number) {
  const auto mine = mode_ == tokens::checked ? std::to_string(by.token) : "";
  auto accepted = by, refused = by;
  accepted.what = kind::written;
  refused.what = kind::refused;
  accepted.note = refused.note = std::to_string(number);
  const auto reply =
      connection_.command({"EVAL", script, "2", by.lock, by.lock + ":log", mine,
                           std::to_string(number), to_line(accepted), to_line(refused)});
  if (reply.is(resp::type::error)) throw std::runtime_error("resource: " + reply.text);
  return !reply.is(resp::type::null);
}

std::vector<event> resource::log(const std::string& lock) {
  std::vector<event> all;
  for (const auto& line : connection_.command({"LRANGE", lock + ":log", "0", "-1"}).items) {
    all.push_back(history::parse(line.text));
  }
  const auto number = connection_.command({"HGET", lock, "number"}).text;
  all.push_back({.time = net::now().time_since_epoch(),
                 .what = kind::total,
                 .lock = lock,
                 .value = number.empty() ? 0 : std::stoull(number)});
  return all;
}

}  // namespace holdfast::faults
