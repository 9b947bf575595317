// The server says nothing: a call looks at its bound and at its stop token also while it waits.
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "support/fake_server.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {
namespace {

using support::fake_server;

constexpr std::chrono::milliseconds margin = 1s;  // what a busy machine may take more

fake_server::script silent_from_the_start() {
  return [](const auto&) { return fake_server::silence(); };
}

fake_server::script silent_after_the_log_in() {
  return [](const auto& words) -> std::optional<fake_server::reply> {
    for (const auto* asked : {"EVALSHA", "EVAL", "GET", "SCAN", "DBSIZE"}) {
      if (words.front() == asked) return fake_server::silence();
    }
    return std::nullopt;
  };
}

std::vector<fake_server::script> silences() {
  return {silent_from_the_start(), silent_after_the_log_in()};
}

using call = std::function<void(const client&)>;

// Each at a server and with a client of its own, all at the same time.
void expect_each_to_end(const std::vector<std::pair<std::string, call>>& calls,
                        const client_options& options, std::chrono::milliseconds bound,
                        errc reason) {
  std::vector<std::jthread> all;
  for (const auto& how : silences()) {
    for (const auto& [name, action] : calls) {
      all.emplace_back([=, name = name, action = action, &options] {
        const fake_server silent(how);
        const client redis{silent.url(), options};
        const auto from = net::now();
        try {
          action(redis);
          ADD_FAILURE() << name << ": nothing was thrown";
        } catch (const failure& why) {
          EXPECT_EQ(why.reason(), reason) << name << ": " << why.what();
        }
        EXPECT_LT(net::now() - from, bound + margin) << name;
      });
    }
  }
}

constexpr rate_limit often{.rate = 10, .burst = 2};

TEST(Unanswered, ARateLimiterKeepsToItsTimeout) {
  expect_each_to_end({{"acquire",
                       [](const client& redis) {
                         redis.rate_limiter("calls", often).acquire(1, {.timeout = 100ms});
                       }}},
                     patient(), 100ms, errc::timed_out);
}

TEST(Unanswered, ACallThatIsStoppedEnds) {
  const auto stopped = [](const std::function<void(const client&, std::stop_token)>& action) {
    return [=](const client& redis) {
      std::stop_source stop;
      const std::jthread stops([&] {
        support::pause(50ms);
        stop.request_stop();
      });
      action(redis, stop.get_token());
    };
  };
  expect_each_to_end({{"acquire", stopped([](const client& redis, std::stop_token stop) {
                         redis.rate_limiter("calls", often).acquire(1, {.timeout = 1h}, stop);
                       })},
                      {"list", stopped([](const client& redis, std::stop_token stop) {
                         (void)inspector{redis}.list("*", {.stop = std::move(stop)});
                       })},
                      {"list one", stopped([](const client& redis, std::stop_token stop) {
                         (void)inspector{redis}.list("a", {.stop = std::move(stop)});
                       })},
                      {"list all", stopped([](const client& redis, std::stop_token stop) {
                         (void)inspector{redis}.list_all_dialects("*", {.stop = std::move(stop)});
                       })}},
                     patient(), 50ms, errc::cancelled);
}

// A second attempt to connect would take longer than that.
TEST(Unanswered, AChangeOfAValueKeepsToItsBound) {
  client_options options;
  options.connect_timeout = 1500ms;
  options.response_timeout = 100ms;
  expect_each_to_end(
      {{"add", [](const client& redis) { redis.counter("hits").add(); }},
       {"get", [](const client& redis) { (void)redis.counter("hits").get(); }},
       {"rate", [](const client& redis) { (void)redis.rate_limiter("r", often).try_acquire(); }},
       {"latch set", [](const client& redis) { (void)redis.latch("l").try_set(2); }},
       {"latch down", [](const client& redis) { (void)redis.latch("l").count_down(); }},
       {"latch count", [](const client& redis) { (void)redis.latch("l").count(); }},
       {"ids", [](const client& redis) { (void)redis.id_generator("i").next(); }},
       {"permits", [](const client& redis) { redis.semaphore("s").set_permits(2); }},
       {"break", [](const client& redis) { (void)inspector{redis}.break_lock("a", "a test"); }}},
      options, options.connect_timeout + 2 * options.response_timeout, errc::unavailable);
}

// The threads of one generator wait for the same block, one behind the other.
TEST(Unanswered, ThreadsThatWaitForTheSameIdsEndTogether) {
  client_options options;
  options.connect_timeout = 100ms;
  options.response_timeout = 400ms;
  const fake_server silent(silent_after_the_log_in());
  const client redis{silent.url(), options};
  const auto ids = redis.id_generator("orders");
  const auto from = net::now();
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i) all.emplace_back([&] { EXPECT_THROW((void)ids.next(), failure); });
  }
  EXPECT_LT(net::now() - from, options.connect_timeout + 2 * options.response_timeout + margin);
}

}  // namespace
}  // namespace holdfast::faults
