// Messages of the server that are lost, and those for a request that has left.
#include <thread>

#include "conformance/conformance.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::conformance {
namespace {

class QueueMessages : public mutex_test {
 protected:
  std::string value_of(const std::string& name) const {
    return server().command({"GET", "hf:{" + name + "}"}).text;
  }
  // Puts waiters into the queue of whom nobody will hear again.
  void queue_dead(const std::string& name, int many) const {
    for (int i = 0; i < many; ++i) {
      const std::string member = std::string(32, '0') + '-' + std::to_string(i) + ":o1000:-0";
      server().command({"ZADD", "hf:{" + name + "}:w", std::to_string(i), member});
    }
  }
};
HOLDFAST_ON_EACH_SERVER(QueueMessages);

// So far back in the queue a waiter would otherwise ask after 14 s.
TEST_P(QueueMessages, AWaiterWhoMissedHisGrantAsksWhenItsConnectionBreaks) {
  support::fault_proxy network{net::unix_endpoint{server().socket()}};
  auto held = redis().mutex("a", {.lease = 60s}).acquire();
  const auto old = value_of("a");
  queue_dead("a", 13);
  const client away{network.url()};
  bool got = false;
  std::thread waiter{[&] { got = away.mutex("a").try_acquire({.timeout = 10s}).has_value(); }};
  EXPECT_TRUE(waits("a", 14));
  const auto proof = away.mutex("b").acquire();  // that the answers before this one have come
  network.swallow(support::toward::client);
  EXPECT_TRUE(held.release());
  EXPECT_NE(value_of("a"), old) << "it owns it without knowing";
  network.heal();
  network.disconnect(support::cut::close);
  waiter.join();
  EXPECT_TRUE(got);
}

// The request that was granted the lock unheard must not be a stranger to the one that asks again.
TEST_P(QueueMessages, AnAttemptWhoseAnswerWasLostGetsWhatItWasGranted) {
  support::fault_proxy network{net::unix_endpoint{server().socket()}};
  const client away{network.url()};
  (void)away.mutex("b").acquire();
  network.swallow(support::toward::client);
  bool got = false;
  std::thread asks{
      [&] { got = away.mutex("a", {.lease = 60s}).try_acquire({.timeout = 10s}).has_value(); }};
  EXPECT_TRUE(eventually([&] { return !value_of("a").empty(); }));
  network.heal();
  network.disconnect(support::cut::close);
  asks.join();
  EXPECT_TRUE(got);
}

// As after an attempt whose giving up was lost: the lock must not stay with nobody. But not what
// the request has been granted since, and not for a message that was not made from its place.
TEST_P(QueueMessages, AGrantForARequestThatHasLeftIsGivenBack) {
  const auto there = another_client();
  const auto elsewhere = there.mutex("b").acquire(), also = there.mutex("left").acquire();
  std::stop_source stop, leave;
  const auto waits_until = [&](const char* name, const std::stop_source& until) {
    expect_reason(redis().mutex(name).try_acquire({.timeout = forever}, until.get_token()),
                  errc::cancelled);
  };
  std::thread listener{[&] { waits_until("b", stop); }},
      leaver{[&] { waits_until("left", leave); }};
  EXPECT_TRUE(waits("b", 1) && waits("left", 1));
  const auto place = server().command({"ZRANGE", "hf:{left}:w", "0", "0"}).items.at(0).text;
  const auto departed = place.substr(0, place.find(':')), proof = place.substr(place.size() - 16);
  leave.request_stop();
  leaver.join();
  EXPECT_TRUE(waits("left", 0)) << "until then a grant for it is that of one who leaves";
  const auto time = server().command({"TIME"}).items;
  const auto tell = [&](const std::string& name, const std::string& major,
                        const std::string& by_proof) {
    const auto key = "hf:{" + name + "}";
    server().command({"SET", key, "1:17:" + departed, "PX", "60000"});
    const auto said = "grant " + departed + ' ' + major + " 1000 " + time[0].text + "000000 " +
                      by_proof + ' ' + key;
    EXPECT_EQ(server().command({"PUBLISH", "hf:c:" + departed.substr(0, 32), said}).number, 1);
  };
  tell("d", "16", proof);
  tell("e", "17", std::string(16, '0'));
  tell("a", "17", proof);
  EXPECT_TRUE(eventually([&] { return value_of("a").empty(); }, 5s));
  EXPECT_FALSE(value_of("d").empty()) << "another grant than the one that came before";
  EXPECT_FALSE(value_of("e").empty()) << "anybody can have said that";
  stop.request_stop();
  listener.join();
}

}  // namespace
}  // namespace holdfast::conformance
