// A service that shuts down: each call of its client ends, also where the server is silent.
#include <functional>
#include <thread>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::generous;
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

class StoppedClient : public fault_test {
 protected:
  // The server is asked, and what it says is not heard; then the client is stopped.
  void expect_end(const called& what) {
    SCOPED_TRACE(what.what);
    std::stop_source stop;
    auto options = patient();
    options.stop = stop.get_token();
    fault_proxy proxy{net::unix_endpoint{server_->socket()}};
    const service of{client{proxy.url(), options}};
    (void)of.redis.counter("warm").get();
    proxy.stall(toward::client);
    const auto before = proxy.received(toward::server);
    std::jthread stops([&] {
      EXPECT_TRUE(eventually([&] { return proxy.received(toward::server) > before; }));
      stop.request_stop();
    });
    const auto began = net::now();
    try {
      what.make(of);
      ADD_FAILURE() << "it says that it has succeeded";
    } catch (const failure& why) {
      EXPECT_EQ(why.reason(), errc::cancelled) << why.what();
    }
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
  auto options = patient();
  options.stop = stop.get_token();
  const service of{client{server_->url(), options}};
  stop.request_stop();
  for (const auto& one : calls) {
    SCOPED_TRACE(one.what);
    try {
      one.make(of);
      ADD_FAILURE() << "it says that it has succeeded";
    } catch (const failure& why) {
      EXPECT_EQ(why.reason(), errc::cancelled) << why.what();
    }
  }
}

// What the service has ends as it would without the stop.
TEST_P(StoppedClient, KeepsAndReleasesWhatItHas) {
  server_.emplace(start());
  std::stop_source stop;
  auto options = patient();
  options.stop = stop.get_token();
  const client redis{server_->url(), options};
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
  auto options = patient();
  options.stop = of_client.get_token();
  const client redis{server_->url(), options};
  of_client.request_stop();
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = generous}, of_call.get_token()));
}

}  // namespace
}  // namespace holdfast::faults
