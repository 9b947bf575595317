#include "cli/demo/stock_store.hpp"

#include <poll.h>

#include <charconv>
#include <cstdio>
#include <ctime>
#include <string_view>

#include <holdfast/errc.hpp>

namespace holdfast::cli::demo {
namespace {

constexpr const char* fenced_write = R"lua(
local last = redis.call('GET', KEYS[2])
if last and (#last > #ARGV[1] or (#last == #ARGV[1] and last > ARGV[1])) then return 0 end
redis.call('SET', KEYS[2], ARGV[1])
redis.call('SET', KEYS[1], ARGV[2])
redis.call('RPUSH', KEYS[3], ARGV[3])
return 1)lua";

std::string as_record(std::int64_t left, std::int64_t units) {
  return std::to_string(now_us()) + ' ' + std::to_string(units) + ' ' + std::to_string(left) + ' ' +
         std::to_string(::getpid());
}

order read_record(const char* text) {
  order read;
  long long at = 0;
  long long units = 0;
  long long left = 0;
  // NOLINTNEXTLINE(cert-err34-c): four numbers that a script of ours has written
  if (std::sscanf(text, "%lld %lld %lld %d", &at, &units, &left, &read.buyer) != 4) {
    throw failure{errc::server_error, "an order of the demo was changed by somebody else"};
  }
  read.at_us = at;
  read.units = units;
  read.left = left;
  return read;
}

std::int64_t number(const redisReply& reply) {
  std::int64_t value = 0;
  if (reply.str != nullptr) std::from_chars(reply.str, reply.str + reply.len, value);
  return value;
}

std::optional<std::string> text(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_STRING) return std::nullopt;
  return std::string(reply.str, reply.len);
}

}  // namespace

std::int64_t now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

void pause_for(int milliseconds) { ::poll(nullptr, 0, milliseconds); }

stock_store::stock_store(const connection_options& server, const std::string& id)
    : id_(id), connection_(server) {
  connection_.bound_answers(server.response_timeout);
}

raw_connection::reply stock_store::ask(const std::vector<std::string>& words) {
  const std::lock_guard guard(mutex_);
  return connection_.ask(words);
}

std::int64_t stock_store::stock() { return number(*ask({"GET", key("stock")})); }

void stock_store::open(std::int64_t units) {
  remove_all();
  ask({"SET", key("stock"), std::to_string(units)});
}

void stock_store::write(std::int64_t left, std::int64_t units) {
  ask({"SET", key("stock"), std::to_string(left)});
  ask({"RPUSH", key("orders"), as_record(left, units)});
}

bool stock_store::write_fenced(std::int64_t left, std::int64_t units, std::uint64_t token) {
  return ask({"EVAL", fenced_write, "3", key("stock"), key("fence"), key("orders"),
              std::to_string(token), std::to_string(left), as_record(left, units)})
             ->integer == 1;
}

bool stock_store::set_if_absent(const std::string& owner, int ttl_ms) {
  return ask({"SET", key("lock"), owner, "NX", "PX", std::to_string(ttl_ms)})->type !=
         REDIS_REPLY_NIL;
}

std::optional<std::string> stock_store::delete_lock() {
  return text(*ask({"GETDEL", key("lock")}));  // a DEL that says what it deleted
}

std::optional<std::string> stock_store::holder() { return text(*ask({"GET", key("lock")})); }

void stock_store::order_freeze() { ask({"SET", key("freeze"), "1"}); }

bool stock_store::take_freeze() { return ask({"DEL", key("freeze")})->integer == 1; }

void stock_store::count(const std::string& what) { ask({"INCR", key(what)}); }

std::int64_t stock_store::counted(const std::string& what) {
  return number(*ask({"GET", key(what)}));
}

std::int64_t stock_store::recorded() { return ask({"LLEN", key("orders")})->integer; }

std::vector<order> stock_store::orders() {
  const auto all = ask({"LRANGE", key("orders"), "0", "-1"});
  std::vector<order> read;
  for (std::size_t i = 0; i < all->elements; ++i) {
    read.push_back(read_record(all->element[i]->str));
  }
  return read;
}

void stock_store::remove_all() {
  // Redis answers after it has executed what killed workers had sent before.
  ask({"PING"});
  ask({"DEL", key("stock"), key("orders"), key("fence"), key("lock"), key("freeze"), key("foreign"),
       key("late")});
  const auto holdfast = "hf:{" + lock_name(id_) + "}";
  ask({"DEL", holdfast, holdfast + ":w", holdfast + ":i"});
}

}  // namespace holdfast::cli::demo
