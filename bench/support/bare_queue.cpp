#include "support/bare_queue.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::bench {
namespace {

// KEYS: the lock, its counter, its queue, the counter of places. ARGV: who, PX. The token, or -1.
constexpr std::string_view take = R"(
local call = redis.call
if not call('GET', KEYS[1]) and call('EXISTS', KEYS[3]) == 0 then
  local token = call('INCR', KEYS[2])
  call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return token
end
call('ZADD', KEYS[3], 'NX', call('INCR', KEYS[4]), ARGV[1])
return -1)";

// KEYS: the lock, its counter, its queue. ARGV: who, PX.
constexpr std::string_view pass = R"(
local call = redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return redis.error_reply('ERR not mine') end
local next = call('ZPOPMIN', KEYS[3])[1]
if not next then return call('DEL', KEYS[1]) end
call('SET', KEYS[1], next, 'PX', ARGV[2])
return call('PUBLISH', 'turn:' .. next, call('INCR', KEYS[2])))";

// As long as a client of the library looks for its grant when it knows that it is next.
constexpr microseconds look{300};

}  // namespace

bare_queue::bare_queue(std::uint16_t port, std::string name, int me)
    : socket_(port, look), name_("{" + std::move(name) + "}"), me_(std::to_string(me)) {
  socket_.ask({"HELLO", "3"});
  socket_.ask({"SUBSCRIBE", "turn:" + me_});
  take_sha1_ = socket_.ask({"SCRIPT", "LOAD", take}).text;
  pass_sha1_ = socket_.ask({"SCRIPT", "LOAD", pass}).text;
}

bare_queue::turn bare_queue::take_turn() {
  const auto* said = &socket_.ask(
      {"EVALSHA", take_sha1_, "4", name_, name_ + ":c", name_ + ":q", name_ + ":p", me_, "30000"});
  while (said->is(resp::type::integer) && said->number < 0) said = &socket_.next();
  if (said->is(resp::type::error)) throw std::runtime_error("bare queue: " + said->text);
  return turn(*this);
}

void bare_queue::pass_on() {
  const auto& said =
      socket_.ask({"EVALSHA", pass_sha1_, "3", name_, name_ + ":c", name_ + ":q", me_, "30000"});
  if (!said.is(resp::type::integer)) throw std::runtime_error("bare queue: " + said.text);
}

}  // namespace holdfast::bench
