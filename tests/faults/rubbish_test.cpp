// Every key of every kind holds what nobody of us wrote: calls fail or go through, but they end,
// and nobody storms the server.
#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "faults/each_kind.hpp"
#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "redis/calls/wait_till.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {
namespace {

using command = std::vector<std::string>;

// Of every type, and of our own types with contents that no script wrote.
const std::vector<command>& rubbish() {
  static const std::vector<command> all = {
      {"SET", "KEY", "x"},
      {"SET", "KEY", ""},
      {"SET", "KEY", "99999999999999999999"},
      {"SET", "KEY", "-1"},
      {"SET", "KEY", "1:5:0123:x"},
      {"RPUSH", "KEY", "a"},
      {"SADD", "KEY", "a"},
      {"XADD", "KEY", "1-1", "a", "b"},
      {"HSET", "KEY", "a", "b", "=", "1x:1:1", "c", "r1:2:3"},
      {"HSET", "KEY", "left", "x", "=", "1m:9:9", "x", "x99:99:99999999999999999"},
      {"ZADD", "KEY", "1", "a", "2", "x:9:-", "3", "y:99999999999999999999:p"},
      {"ZADD", "KEY", "1", "x:o9:-0", "2", "y:l9:p0", "3", "z:b99999999999999999999:-ff"},
      {"ZADD", "KEY", "-inf", "a:b:c", "+inf", "x:r1/1::9:-", "0", "z:w1/0:q:9:p"}};
  return all;
}

// A server with one task at work.
class place {
 public:
  explicit place(private_server&& at, const std::function<void(const crew&)>& task)
      : server_(std::move(at)), task_(task) {}

  const private_server& server() const noexcept { return server_; }
  void work() const { (void)attempt(task_, server_, impatient()); }

  // The keys that it writes, also those that are there for a moment only. Not those of one client
  // or request, which the next has not.
  std::set<std::string> keys() const {
    const std::string_view channel = "__keyspace@1__:";
    server_.command({"CONFIG", "SET", "notify-keyspace-events", "KA"});
    support::raw_connection ear{net::unix_endpoint{server_.socket()}};
    ear.command({"PSUBSCRIBE", std::string{channel} + "*{*"});
    work();
    std::set<std::string> found;
    for (auto said = ear.command({"PING"}); said.items.at(0).text != "pong";) {
      found.insert(said.items.at(2).text.substr(channel.size()));
      said = ear.read_value();
    }
    server_.command({"CONFIG", "SET", "notify-keyspace-events", ""});
    std::erase_if(found, [](const auto& key) { return key.starts_with("hf:once:"); });
    EXPECT_FALSE(found.empty());
    return found;
  }

  void clear() const { at_their_database(server_, {"FLUSHDB"}); }
  void put(command what, const std::string& key) const {
    what[1] = key;
    at_their_database(server_, {"DEL", key});
    at_their_database(server_, what);
  }

 private:
  private_server server_;
  const std::function<void(const crew&)>& task_;
};

// What a call may need while nothing is as it should be.
void expect_an_end(const place& here, const std::string& of) {
  const auto before = here.server().commands_processed();
  const auto from = net::now();
  here.work();
  EXPECT_LT(net::now() - from, 10s) << of;
  EXPECT_LT(here.server().commands_processed() - before, 3000) << of;
}

void find_rubbish(const place& here, const std::string& kind) {
  for (const auto& key : here.keys()) {
    for (const auto& what : rubbish()) {
      here.clear();
      here.put(what, key);
      expect_an_end(here, kind + ": " + key + " from " + what[0] + ' ' + what[2]);
    }
  }
}

// A hundred times a second, somewhere.
void spoil(const place& here, const std::set<std::string>& keys, const std::stop_token& enough) {
  for (std::size_t i = 0; !keys.empty() && calls::wait_till(net::now() + 10ms, enough); ++i) {
    here.put(rubbish()[i % rubbish().size()], *std::next(keys.begin(), i % keys.size()));
  }
}

void meet_a_vandal(const place& here, const std::string& kind) {
  const auto keys = here.keys();
  const std::jthread vandal([&](const std::stop_token& enough) { spoil(here, keys, enough); });
  for (int i = 0; i < 10; ++i) expect_an_end(here, kind);
}

class Rubbish : public fault_test {
 protected:
  // All kinds at a time, each at a server of its own, since most of it is waiting.
  void each_kind(void (*meets)(const place&, const std::string&)) const {
    std::vector<std::jthread> at_work;
    for (const auto& one : groups()) {
      for (std::size_t i = 0; i < one.work.size(); ++i) {
        at_work.emplace_back([&, i] { meets(place{start(), one.work[i]}, one.kinds[i]); });
      }
    }
  }
};
HOLDFAST_ON_EACH_SERVER(Rubbish);

TEST_P(Rubbish, ThatIsThereEndsEveryCallInTime) { each_kind(find_rubbish); }

TEST_P(Rubbish, ThatComesMeanwhileEndsEveryCallInTime) { each_kind(meet_a_vandal); }

}  // namespace
}  // namespace holdfast::faults
