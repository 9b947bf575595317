// A lease that ends for its client while the server still keeps the lock, and nobody is inside: for
// the rest of the lease, and the time that nobody else gets it then, that would stop all others.
#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::cut;
using support::fault_proxy;
using support::toward;

class KeptLock : public fault_test {
 protected:
  static bool is_free(const private_server& server, const std::string& name) {
    return server.command({"EXISTS", value_key(name)}).number == 0;
  }
  // Until the lease has ended for a while, also as the server counts it, so that only the delay is
  // left: whatever waited for a connection has been given up.
  static void outlast_the_lease(const private_server& server, const std::string& name) {
    const auto delay = std::chrono::duration_cast<milliseconds>(delayed.lock_delay).count();
    EXPECT_TRUE(eventually([&] {
      return server.command({"PTTL", value_key(name)}).number < delay - 1500;
    }));
  }

  static inline const mutex_options delayed{.lease = 1s, .retain = 1h, .lock_delay = 1h};
};
HOLDFAST_ON_EACH_SERVER(KeptLock);

// Its renewals reach the server, and their answers do not come back.
TEST_P(KeptLock, GoesBackAsSoonAsItsLeaseHasEndedUnused) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), client_options{.response_timeout = support::generous}};
  const auto kept = redis.mutex("a", delayed);
  const auto first = kept.acquire().token();
  proxy.stall(toward::client);
  EXPECT_TRUE(eventually([&] { return is_free(server, "a"); }, 10s)) << "no answer has come";
  proxy.heal();
  const auto again = kept.try_acquire();
  ASSERT_TRUE(again) << why_not(again);
  EXPECT_GT(again->token(), first);
}

// When it ends there is no connection on which it could go back.
TEST_P(KeptLock, GoesBackWhenTheServerIsThereAgain) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  (void)redis.mutex("a", delayed).acquire();
  proxy.refuse_connections();
  proxy.disconnect(cut::close);
  outlast_the_lease(server, "a");
  proxy.accept_connections();
  EXPECT_TRUE(eventually([&] { return is_free(server, "a"); }));
}

// The same of one that was held when its lease ended: its holder is out, and has said so.
TEST_P(KeptLock, ReleaseOfALostLeaseReachesTheServerWhenThatIsThereAgain) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  auto held = redis.mutex("a", delayed).acquire();
  const auto lost = held.lost();
  proxy.refuse_connections();
  proxy.disconnect(cut::close);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  expect_failure(held.release(), errc::lost, "had ended before it was released");
  outlast_the_lease(server, "a");
  proxy.accept_connections();
  EXPECT_TRUE(eventually([&] { return is_free(server, "a"); }));
}

// The server has extended the lease, and the answer was lost.
TEST_P(KeptLock, ReleaseIsTriedForAsLongAsAnExtensionMayLast) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  auto held = redis.mutex("a", {.lease = 1s, .renewal = renewal::none}).acquire();
  proxy.swallow(toward::client);
  expect_failure(held.extend(1h), errc::unavailable, "");
  EXPECT_GT(server.command({"PTTL", value_key("a")}).number, 1'000'000);
  proxy.refuse_connections();
  proxy.disconnect(cut::close);
  EXPECT_FALSE(held.release());
  // For another lease after its deadline it would be tried otherwise.
  server.command({"SET", "that long", "", "PX", "4000"});
  EXPECT_TRUE(eventually([&] { return server.command({"EXISTS", "that long"}).number == 0; }, 15s));
  proxy.heal();
  proxy.accept_connections();
  EXPECT_TRUE(eventually([&] { return is_free(server, "a"); }));
}

// The old holder may still be inside, and the delay is for that.
TEST_P(KeptLock, LossAloneGivesNothingBackWhileSomebodyIsInside) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  const client redis{proxy.url(), impatient()};
  auto held = redis.mutex("a", delayed).acquire();
  const auto lost = held.lost();
  proxy.stall(toward::client);
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  proxy.heal();
  const auto other = redis.mutex("b").acquire();  // what was sent before has been executed
  EXPECT_FALSE(is_free(server, "a"));
  expect_failure(held.release(), errc::lost, "had ended before it was released");
  EXPECT_TRUE(eventually([&] { return is_free(server, "a"); }));
}

// The server is not asked, so only a renewal tells that an operator has taken the lock away.
TEST_P(KeptLock, ReleaseOfWhatWasBrokenIsASuccessUntilARenewalTells) {
  const auto server = start();
  const client redis{server.url()}, other{server.url()};
  const auto kept = redis.mutex("a", {.lease = 3s, .retain = 1h});
  auto held = kept.acquire();
  const auto before = held.token();
  EXPECT_EQ(inspector{other}.break_lock("a", "tried").state, lock_state::held);
  EXPECT_TRUE(held.release());
  const auto next = other.mutex("a").try_acquire();
  ASSERT_TRUE(next) << why_not(next);
  EXPECT_GT(next->token(), before);
  EXPECT_TRUE(eventually([&] { return !kept.try_acquire(); }, 10s));
  EXPECT_TRUE(next->held());
}

// Nobody waits for what is still tried when the client is closed.
TEST_P(KeptLock, DoesNotKeepItsClientFromClosing) {
  const auto server = start();
  fault_proxy proxy{net::unix_endpoint{server.socket()}};
  std::optional<client> redis{std::in_place, proxy.url(), client_options{.response_timeout = 10s}};
  (void)redis->mutex("a", delayed).acquire();
  proxy.refuse_connections();
  proxy.disconnect(cut::close);
  outlast_the_lease(server, "a");
  const auto before = net::now();
  redis.reset();
  EXPECT_LT(net::now() - before, 5s);
}

}  // namespace
}  // namespace holdfast::faults
