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
      const std::string member = std::string(32, '0') + '-' + std::to_string(i) + ":1000:-";
      server().command({"ZADD", "hf:{" + name + "}:w", std::to_string(i), member});
    }
  }
};
HOLDFAST_ON_EACH_SERVER(QueueMessages);

// So far back in the queue he would otherwise ask after 14 s.
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
  EXPECT_NE(value_of("a"), old) << "he owns it without knowing";
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
// the request has been granted since.
TEST_P(QueueMessages, AGrantForARequestThatHasLeftIsGivenBack) {
  const auto elsewhere = another_client().mutex("b").acquire();
  const auto own = redis().mutex("c").acquire();
  std::stop_source stop;
  std::thread listener{[&] {
    expect_reason(redis().mutex("b").try_acquire({.timeout = forever, .stop = stop.get_token()}),
                  errc::cancelled);
  }};
  EXPECT_TRUE(waits("b", 1));
  const std::string owner = value_of("c").substr(value_of("c").rfind(':') + 1);
  const std::string client_text = owner.substr(0, owner.find('-'));
  const std::string departed = client_text + "-ffffff";
  const auto time = server().command({"TIME"}).items;
  for (const auto* name : {"d", "a"}) {
    const auto key = std::string("hf:{") + name + "}";
    server().command({"SET", key, "1:17:" + departed, "PX", "60000"});
    const auto* const major = *name == 'a' ? "17" : "16";
    const auto told = server().command(
        {"PUBLISH", "hf:c:" + client_text,
         "grant " + departed + ' ' + major + " 1000 " + time[0].text + "000000 " + key});
    EXPECT_EQ(told.number, 1);
  }
  EXPECT_TRUE(eventually([&] { return value_of("a").empty(); }, 5s));
  EXPECT_FALSE(value_of("d").empty()) << "another grant than the one that came before";
  stop.request_stop();
  listener.join();
}

}  // namespace
}  // namespace holdfast::conformance
