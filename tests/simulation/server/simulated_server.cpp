#include "simulation/server/simulated_server.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/sha1.hpp"
#include "simulation/server/answers.hpp"
#include "simulation/server/script_engine.hpp"

namespace holdfast::simulation {
namespace {

value push_of(std::string_view what, std::string_view channel, value last) {
  return {.kind = type::push,
          .number = 0,
          .text = {},
          .items = {bulk(what), bulk(channel), std::move(last)}};
}

// Takes "*12\r\n" or "$12\r\n" off the front.
std::size_t take_header(std::string_view& bytes, char sign) {
  std::size_t n = 0;
  if (!bytes.starts_with(sign)) throw std::logic_error("not a command");
  const auto [end, failure] = std::from_chars(bytes.data() + 1, bytes.data() + bytes.size(), n);
  bytes.remove_prefix(static_cast<std::size_t>(end - bytes.data()));
  if (failure != std::errc{} || !bytes.starts_with("\r\n")) throw std::logic_error("no length");
  bytes.remove_prefix(2);
  return n;
}

void split(std::string_view bytes, std::vector<std::string_view>& command) {
  command.clear();
  for (auto count = take_header(bytes, '*'); count > 0; --count) {
    const auto size = take_header(bytes, '$');
    if (bytes.size() < size + 2) throw std::logic_error("half a command");
    command.push_back(bytes.substr(0, size));
    bytes.remove_prefix(size + 2);
  }
  if (command.empty() || !bytes.empty()) throw std::logic_error("not one command");
}

constexpr const char* at_a_replica = "READONLY You can't write against a read only replica.";
// A node of a cluster that is a replica sends those who ask about keys to its master.
constexpr const char* elsewhere = "MOVED 0 127.0.0.1:1";

// Channels of a hash slot have names of their own.
std::string name_of(std::string_view kind, std::string_view channel) {
  return (kind.starts_with("ss") || kind.starts_with("sm") ? "slot " : "") + std::string{channel};
}

}  // namespace

int simulated_server::connect() {
  clients_.try_emplace(++last_connection_);
  return last_connection_;
}

void simulated_server::disconnect(int connection) { clients_.erase(connection); }

simulated_server::client& simulated_server::client_of(int connection) {
  const auto found = clients_.find(connection);
  if (found == clients_.end()) throw std::logic_error("this connection is closed");
  return found->second;
}

value simulated_server::execute(int connection, std::string_view bytes) {
  split(bytes, command_);
  has_written_ = false;
  runs_at_replica_ = client_of(connection).is_at_replica;
  auto answer = run(connection, command_);
  runs_at_replica_ = false;
  return answer;
}

std::vector<value> simulated_server::take_pushes(int connection) {
  return std::exchange(client_of(connection).pushes, {});
}

void simulated_server::know(const resp::script& one) {
  const std::string sha1{one.sha1};
  if (compile_script(sha1, one.text).is(type::error)) throw std::logic_error("not a script");
  scripts_.insert(sha1);
  if (one.in_cluster == nullptr) return;
  forms_.insert_or_assign(sha1, std::string{one.in_cluster->sha1});
  know(*one.in_cluster);
}

void simulated_server::restart_empty() {
  flush_all();
  scripts_.clear();
  clients_.clear();
  told_.clear();
  replica_.reset();
}

void simulated_server::fail_over(keyspace copy) {
  restart_empty();
  keys_ = std::move(copy);
}

value simulated_server::refusal_of(std::string_view command) {
  if (!runs_at_replica_ && (refusal_.empty() || has_written_)) return {};
  constexpr std::array growing{"SET", "MSET", "INCRBY", "ZADD", "HSET"};
  constexpr std::array shrinking{"DEL", "PEXPIRE", "PEXPIREAT", "ZREM", "ZPOPMIN", "HDEL"};
  const bool grows = std::ranges::find(growing, command) != growing.end();
  const bool writes = grows || std::ranges::find(shrinking, command) != shrinking.end();
  if (runs_at_replica_) return writes ? error(at_a_replica) : value{};
  if (grows || (writes && !refuses_only_growth_)) return error(refusal_);
  has_written_ = writes;
  return {};
}

value simulated_server::run(int connection, words command) {
  const auto name = command[0];
  if (name == "EVALSHA" || name == "EVAL") {
    return runs_at_replica_ && is_in_cluster_ ? error(elsewhere) : evaluate(command);
  }
  if (name == "SCRIPT") return script(command);
  if (name == "SUBSCRIBE" || (name == "SSUBSCRIBE" && has_shards_)) {
    return subscribe(name == "SUBSCRIBE" ? "subscribe" : "ssubscribe", client_of(connection),
                     command.subspan(1));
  }
  if (name == "PING") return text_of(type::simple, "PONG");
  if (name == "FLUSHALL") {
    flush_all();
    return text_of(type::simple, "OK");
  }
  return run_on_keys(command, true);
}

value simulated_server::run_on_keys(words command, bool resp3) {
  if (command[0] == "PUBLISH" && command.size() == 3) {
    return publish("message", command[1], command[2]);
  }
  if (command[0] == "SPUBLISH" && command.size() == 3 && has_shards_) {
    return publish("smessage", command[1], command[2]);
  }
  if (command[0] == "PUBSUB" && command.size() == 3) return listeners(command[2]);
  if (auto refused = refusal_of(command[0]); refused.is(type::error)) return refused;
  auto& keys = runs_at_replica_ ? replica_->keys : keys_;
  if (auto answer = keys.run(command, now_, resp3)) return *std::move(answer);
  return error("ERR unknown command '" + std::string(command[0]) + "'");
}

value simulated_server::evaluate(words command) {
  std::size_t keys = 0;
  if (command.size() < 3) return error("ERR wrong number of arguments");
  const auto count = command[2];
  std::from_chars(count.data(), count.data() + count.size(), keys);
  if (keys > command.size() - 3) {
    return error("ERR Number of keys can't be greater than number of args");
  }
  std::string loaded;
  auto sha1 = command[1];
  if (command[0] == "EVAL") {
    auto answer = load(command[1]);
    if (answer.is(type::error)) return answer;
    loaded = std::move(answer.text);
    sha1 = loaded;
  } else if (!scripts_.contains(sha1)) {
    return error("NOSCRIPT No matching script. Please use EVAL.");
  }
  const auto form = is_in_cluster_ ? forms_.find(sha1) : forms_.end();
  if (form != forms_.end()) sha1 = form->second;
  const command_runner inner = [this](words given) { return run_on_keys(given, false); };
  return run_script(sha1, command.subspan(3, keys), command.subspan(3 + keys), inner);
}

value simulated_server::load(std::string_view text) {
  auto sha1 = sha1_hex(text);
  auto failure = compile_script(sha1, text);
  if (failure.is(type::error)) return failure;
  scripts_.insert(sha1);
  return bulk(sha1);
}

value simulated_server::script(words command) {
  if (command.size() == 3 && command[1] == "LOAD") return load(command[2]);
  if (command.size() < 2 || command[1] != "FLUSH") return error("ERR unknown subcommand");
  scripts_.clear();
  return text_of(type::simple, "OK");
}

value simulated_server::publish(std::string_view kind, std::string_view channel,
                                std::string_view payload) {
  std::int64_t heard = 0;
  const auto name = name_of(kind, channel);
  if (replica_ && !runs_at_replica_) repeat(name, push_of(kind, channel, bulk(payload)));
  for (auto& [connection, who] : clients_) {
    if (who.is_at_replica != runs_at_replica_ || !who.channels.contains(name)) continue;
    told_.push_back(connection);
    who.pushes.push_back(push_of(kind, channel, bulk(payload)));
    ++heard;
  }
  return number(heard);
}

value simulated_server::listeners(std::string_view channel) const {
  const auto count = std::ranges::count_if(clients_, [&](const auto& one) {
    return one.second.is_at_replica == runs_at_replica_ && one.second.channels.contains(channel);
  });
  value answer{.kind = type::array, .number = 0, .text = {}, .items = {}};
  answer.items = {bulk(channel), number(count)};
  return answer;
}

// Of several channels the first is confirmed by the answer, the others by pushes.
value simulated_server::subscribe(std::string_view kind, client& who, words channels) {
  if (channels.empty()) return error("ERR wrong number of arguments for 'subscribe' command");
  value first;
  for (const auto channel : channels) {
    who.channels.insert(name_of(kind, channel));
    auto said = push_of(kind, channel, number(std::int64_t(who.channels.size())));
    if (first.is(type::null)) {
      first = std::move(said);
    } else {
      who.pushes.push_back(std::move(said));
    }
  }
  return first;
}

}  // namespace holdfast::simulation
