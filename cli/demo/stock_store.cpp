#include "cli/demo/stock_store.hpp"

#include <unistd.h>

#include <cstdio>

#include <holdfast/errc.hpp>

namespace holdfast::cli::demo {
namespace {

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

}  // namespace

std::int64_t stock_store::stock() { return number({"GET", key("stock")}); }

void stock_store::open(std::int64_t units) {
  remove_all();
  ask({"SET", key("stock"), std::to_string(units)});
}

void stock_store::write(std::int64_t left, std::int64_t units) {
  ask({"SET", key("stock"), std::to_string(left)});
  ask({"RPUSH", key("orders"), as_record(left, units)});
}

bool stock_store::write_fenced(std::int64_t left, std::int64_t units, std::uint64_t token) {
  return eval_fenced("redis.call('SET', KEYS[2], ARGV[2]) redis.call('RPUSH', KEYS[3], ARGV[3])",
                     {"stock", "orders"}, token, {std::to_string(left), as_record(left, units)});
}

bool stock_store::set_if_absent(const std::string& owner, int ttl_ms) {
  return ask({"SET", key("lock"), owner, "NX", "PX", std::to_string(ttl_ms)})->type !=
         REDIS_REPLY_NIL;
}

std::optional<std::string> stock_store::delete_lock() {
  return text({"GETDEL", key("lock")});  // a DEL that says what it deleted
}

std::optional<std::string> stock_store::holder() { return text({"GET", key("lock")}); }

void stock_store::count(const std::string& what) { ask({"INCR", key(what)}); }

std::int64_t stock_store::counted(const std::string& what) { return number({"GET", key(what)}); }

std::int64_t stock_store::recorded() { return number({"LLEN", key("orders")}); }

std::vector<order> stock_store::orders() {
  std::vector<order> read;
  for (const auto& record : list({"LRANGE", key("orders"), "0", "-1"})) {
    read.push_back(read_record(record.c_str()));
  }
  return read;
}

void stock_store::remove_all() {
  remove({"stock", "orders", "lock", "foreign", "late"}, {lock_name()});
}

}  // namespace holdfast::cli::demo
