// A service that shuts down: each call of its client ends, also where the server is silent.
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/cluster_servers.hpp"
#include "support/fault_proxy.hpp"
#include "support/thrown_by.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::generous;
using support::thrown_by;
using support::toward;

struct service {
  client redis;
  quorum group{{redis}};
};

struct called {
  const char* what;
  std::function<void(const service&)> make;
};

task<> ask(lock wanted) { (void)co_await wanted.async_acquire({.timeout = generous}); }

const std::vector<called> calls{
    {"acquire",
     [](const service& of) { (void)of.redis.mutex("a").acquire({.timeout = generous}); }},
    {"async_acquire", [](const service& of) { sync_wait(ask(of.redis.mutex("a"))); }},
    {"try_acquire", [](const service& of) { (void)of.redis.mutex("a").try_acquire().value(); }},
    {"all_of",
     [](const service& of) {
       (void)all_of({of.redis.mutex("a"), of.redis.mutex("b")}).acquire({.timeout = generous});
     }},
    {"read", [](const service& of) { (void)of.redis.read_write_lock("a").shared().acquire(); }},
    {"redisson",
     [](const service& of) { (void)of.redis.mutex("a", {}, dialect::redisson()).acquire(); }},
    {"quorum", [](const service& of) { (void)of.group.mutex("a").acquire(); }},
    {"latch", [](const service& of) { of.redis.latch("a").wait(); }},
    {"set latch", [](const service& of) { (void)of.redis.latch("a").try_set(1); }},
    {"count", [](const service& of) { (void)of.redis.latch("a").count(); }},
    {"counter", [](const service& of) { (void)of.redis.counter("a").get(); }},
    {"add", [](const service& of) { of.redis.counter("a").add(); }},
    {"permits", [](const service& of) { of.redis.semaphore("a", {.permits = 1}).set_permits(2); }},
    {"rate",
     [](const service& of) { of.redis.rate_limiter("a", {.rate = 1, .burst = 1}).acquire(); }},
    {"fenced_set",
     [](const service& of) { (void)of.redis.fenced_set("a", "b", fencing_token{4096}); }},
    {"leader", [](const service& of) { (void)of.redis.election("a").leader(); }},
    {"id", [](const service& of) { (void)of.redis.id_generator("a").next(); }},
    {"status", [](const service& of) { (void)inspector{of.redis}.status("a"); }},
    {"status of redisson",
     [](const service& of) { (void)inspector{of.redis}.status("a", dialect::redisson()); }},
    {"list", [](const service& of) { (void)inspector{of.redis}.list(); }},
    {"break", [](const service& of) { inspector{of.redis}.break_lock("a", "a test"); }},
    {"find foreign", [](const service& of) { (void)inspector{of.redis}.find_foreign("a"); }},
};

client_options stopped_by(const std::stop_source& stop) {
  auto options = patient();
  options.stop = stop.get_token();
  return options;
}

template <typename Act>
void expect_cancelled(Act&& act) {
  const auto why = thrown_by(act);
  EXPECT_EQ(why.reason(), errc::cancelled) << why.what();
}

class StoppedClient : public fault_test {
 protected:
  // The server is asked, and what it says is not heard; then the client is stopped.
  void expect_end(const called& what) {
    SCOPED_TRACE(what.what);
    std::stop_source stop;
    fault_proxy proxy{net::unix_endpoint{server_->socket()}};
    const service of{client{proxy.url(), stopped_by(stop)}};
    (void)of.redis.counter("warm").get();
    proxy.stall(toward::client);
    const auto before = proxy.received(toward::server);
    std::jthread stops([&] {
      EXPECT_TRUE(eventually([&] { return proxy.received(toward::server) > before; }));
      stop.request_stop();
    });
    const auto began = net::now();
    expect_cancelled([&] { what.make(of); });
    EXPECT_LT(net::now() - began, generous / 2);
    proxy.heal();  // what it got in spite of that is given back before the client closes
  }

  std::optional<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(StoppedClient);

TEST_P(StoppedClient, EndsEveryCall) {
  server_.emplace(start());
  for (const auto& one : calls) expect_end(one);
  const client other{server_->url(), patient()};
  for (const auto* name : {"a", "b"}) {
    EXPECT_TRUE(other.mutex(name).try_acquire({.timeout = generous})) << name;
  }
}

TEST_P(StoppedClient, BeginsNoCall) {
  server_.emplace(start());
  std::stop_source stop;
  const service of{client{server_->url(), stopped_by(stop)}};
  stop.request_stop();
  for (const auto& one : calls) {
    SCOPED_TRACE(one.what);
    expect_cancelled([&] { one.make(of); });
  }
}

// The service's leases end as they would without the stop.
TEST_P(StoppedClient, KeepsAndReleasesWhatItHas) {
  server_.emplace(start());
  std::stop_source stop;
  const client redis{server_->url(), stopped_by(stop)};
  auto held = redis.mutex("a", {.lease = 300ms}).acquire();
  stop.request_stop();
  const auto granted_until = net::now() + held.remaining();
  EXPECT_TRUE(eventually([&] { return net::now() > granted_until; }));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(held.release());
  const client other{server_->url(), patient()};
  EXPECT_TRUE(other.mutex("a").try_acquire());
}

TEST_P(StoppedClient, ATokenOfTheCallCountsInstead) {
  server_.emplace(start());
  std::stop_source of_client, of_call;
  const client redis{server_->url(), stopped_by(of_client)};
  of_client.request_stop();
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = generous}, of_call.get_token()));
}

// Which member is silent, and whose token is stopped, are two things.
TEST_P(StoppedClient, TheTokenOfTheFirstMemberCountsForAQuorum) {
  const std::array servers{start(), start(), start()};
  std::deque<fault_proxy> proxies;
  for (const auto& server : servers) proxies.emplace_back(net::unix_endpoint{server.socket()});
  std::array<std::stop_source, 3> stops;
  std::vector<client> members;
  for (std::size_t i = 0; i < 3; ++i) {
    members.emplace_back(proxies[i].url(), stopped_by(stops[i]));
  }
  const quorum_inspector look{members};
  stops[1].request_stop();
  EXPECT_EQ(look.status("a").members.at(1).unavailable, "") << "its own token does not";
  proxies[2].stall(toward::client);
  const auto before = proxies[2].received(toward::server);
  std::jthread stopping([&] {
    EXPECT_TRUE(eventually([&] { return proxies[2].received(toward::server) > before; }));
    stops[0].request_stop();
  });
  const auto began = net::now();
  expect_cancelled([&] { (void)look.status("a"); });
  expect_cancelled([&] { (void)look.break_lock("a", "a test"); });
  expect_cancelled([&] { (void)look.diagnose(); });
  EXPECT_LT(net::now() - began, generous / 2);
  proxies[2].heal();
}

// Where another node may have the key, no answer is none.
TEST_P(StoppedClient, FindsNotNothingInACluster) {
  const support::cluster_servers cluster{{.program = GetParam(), .masters = 1}};
  std::stop_source stop;
  const inspector look{client{cluster.url(), stopped_by(stop)}};
  (void)look.find_foreign("a");
  stop.request_stop();
  expect_cancelled([&] { (void)look.find_foreign("a"); });
}

// Stopped at 24 moments.
TEST_P(StoppedClient, ADiagnosisLeavesNothingBehind) {
  server_.emplace(start());
  fault_proxy proxy{net::unix_endpoint{server_->socket()}};
  const auto diagnose = [&](std::optional<std::size_t> bytes) {
    std::stop_source stop;
    const inspector look{client{proxy.url(), stopped_by(stop)}};
    const auto before = proxy.received(toward::server);
    std::jthread stops([&](std::stop_token done) {
      if (!bytes) return;
      const auto is_far = [&] { return proxy.received(toward::server) - before >= *bytes; };
      (void)eventually([&] { return is_far() || done.stop_requested(); });
      stop.request_stop();
    });
    try {
      (void)look.diagnose();
    } catch (const failure& why) {
      EXPECT_EQ(why.reason(), errc::cancelled) << why.what();
    }
    return proxy.received(toward::server) - before;
  };
  const auto all = diagnose(std::nullopt);
  for (std::size_t i = 0; i < 24; ++i) (void)diagnose(all * i / 24);
  constexpr int for_ever = -1;  // -2: it has gone meanwhile, as a closed client's entry does
  for (const auto& key : server_->command({"KEYS", "hf:*"}).items) {
    const bool may_stay = key.text == "hf:held" || key.text.starts_with("hf:fence:");
    EXPECT_TRUE(may_stay || server_->command({"PTTL", key.text}).number != for_ever) << key.text;
  }
}

}  // namespace
}  // namespace holdfast::faults
