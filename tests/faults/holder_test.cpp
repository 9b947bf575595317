// Holders that are killed, frozen, forked, or that just leave.
#include <atomic>
#include <csignal>
#include <stop_token>

#include "faults/faulty_server.hpp"
#include "faults/fenced_register.hpp"
#include "support/child_process.hpp"
#include "support/fault_proxy.hpp"
#include "support/forked.hpp"
#include "support/no_thread_left.hpp"

namespace holdfast::faults {
namespace {

using support::toward;

// The helper program with a lock named "a".
class holder_process {
 public:
  holder_process(const private_server& server, milliseconds lease, const std::string& url = {})
      : process_({.program = HOLDFAST_HOLDER,
                  .arguments = {url.empty() ? server.url() : url, server.socket(), "a",
                                std::to_string(lease.count())}}) {}

  void say(const std::string& command) { process_.write(command + "\n"); }
  std::string hear() {
    const auto end_of_answer = " #" + std::to_string(++heard_) + "\n";
    EXPECT_TRUE(process_.wait_for_output(end_of_answer)) << process_.errors();
    const auto& all = process_.output();
    const auto end = std::min(all.find(end_of_answer), all.size());
    const auto begin = end == 0 ? 0 : all.rfind('\n', end - 1) + 1;
    return all.substr(begin, end - begin);
  }
  std::string ask(const std::string& command) {
    say(command);
    return hear();
  }
  fencing_token acquire() {
    const auto answer = ask("acquire");
    EXPECT_THAT(answer, ::testing::StartsWith("token "));
    return fencing_token{answer.starts_with("token ") ? std::stoull(answer.substr(6)) : 0};
  }
  void freeze() const { support::freeze(process_.pid()); }
  void thaw() const { process_.signal(SIGCONT); }
  support::child_process& process() { return process_; }

 private:
  support::child_process process_;
  int heard_ = 0;
};

// The time beyond a lease before others get the lock: their polling, and a busy machine.
constexpr milliseconds bound = 3s;

class Holder : public fault_test {
 protected:
  static std::int64_t pttl(const private_server& server) {
    return server.command({"PTTL", value_key("a")}).number;
  }
};
HOLDFAST_ON_EACH_SERVER(Holder);

TEST_P(Holder, ThatIsKilledKeepsTheLockForItsLeaseOnly) {
  const auto server = start();
  holder_process holder(server, 800ms);
  const auto token = holder.acquire();
  holder.process().signal(SIGKILL);
  const auto next = client{server.url()}.mutex("a").try_acquire({.timeout = 800ms + bound});
  ASSERT_TRUE(next) << why_not(next);
  EXPECT_GT(next->token(), token);
}

// The loss is told on a thread of the client that had not been needed before.
TEST_P(Holder, WithoutAThreadIsToldOfItsLossWhenThereIsOne) {
  const auto server = start();
  const client redis{server.url()};
  const auto held = redis.mutex("a", {.lease = 200ms, .renewal = renewal::none}).acquire();
  std::atomic<bool> told{false};
  const std::stop_callback hears{held.lost(), [&] { told = true; }};
  {
    const support::no_thread_left none;
    EXPECT_TRUE(eventually([&] { return !held.held(); }));
    EXPECT_FALSE(told);
  }
  EXPECT_TRUE(eventually([&] { return told.load(); }));
}

TEST_P(Holder, FrozenPastItsLeaseHasLostItWhenItWakes) {
  const auto server = start();
  holder_process holder(server, 800ms);
  const auto token = holder.acquire();
  EXPECT_EQ(holder.ask("held"), "held");
  holder.freeze();
  const auto next = client{server.url()}.mutex("a").try_acquire({.timeout = 800ms + bound});
  ASSERT_TRUE(next) << why_not(next);
  EXPECT_GT(next->token(), token);
  holder.say("held");  // lies there when it wakes: it is asked before any of its threads can know
  holder.thaw();
  EXPECT_EQ(holder.hear(), "not held");
  EXPECT_TRUE(eventually([&] { return holder.ask("losses") == "1"; }));
  EXPECT_THAT(holder.ask("release"), ::testing::HasSubstr("the lease ended"));
  EXPECT_EQ(holder.ask("losses"), "1");
  EXPECT_TRUE(next->held());
  EXPECT_GT(pttl(server), 0) << "the late release must not hit the next holder";
}

TEST_P(Holder, FrozenForLessThanItsLeaseKeepsIt) {
  const auto server = start();
  holder_process holder(server, 4s);
  holder.acquire();
  holder.freeze();
  EXPECT_TRUE(eventually([&] { return pttl(server) < 2000; }));  // a renewal was due at 2667
  holder.thaw();
  EXPECT_TRUE(eventually([&] { return pttl(server) > 3000; }));
  EXPECT_EQ(holder.ask("held"), "held");
  EXPECT_EQ(holder.ask("losses"), "0");
  EXPECT_EQ(holder.ask("release"), "released");
}

// Kleppmann's case: it looks, freezes, and writes when it wakes. Only the resource can refuse.
TEST_P(Holder, FencedResourceRefusesTheLateWrite) {
  const auto server = start();
  holder_process holder(server, 800ms);
  holder.acquire();
  EXPECT_EQ(holder.ask("check"), "checked");
  holder.freeze();
  const auto next = client{server.url()}.mutex("a").try_acquire({.timeout = 800ms + bound});
  ASSERT_TRUE(next) << why_not(next);
  fenced_register resource(server.socket());
  EXPECT_TRUE(resource.write(next->token().value(), "right"));
  resource.write_unfenced("right");
  holder.thaw();
  EXPECT_EQ(holder.ask("now"), "refused");
  EXPECT_EQ(resource.read(), "right");
  EXPECT_EQ(resource.read_unfenced(), "late") << "without a fence the damage must be visible";
}

// The grant is there in time, but whoever asked does not run until its lease is over.
TEST_P(Holder, FrozenWhileItsGrantArrivesDoesNotBelieveIt) {
  const auto server = start();
  support::fault_proxy proxy{net::unix_endpoint{server.socket()}};
  holder_process holder(server, 400ms, proxy.url());
  holder.acquire();
  EXPECT_EQ(holder.ask("release"), "released");
  const auto heard = proxy.forwarded(toward::client);
  proxy.stall(toward::client);
  holder.say("acquire");
  EXPECT_TRUE(eventually([&] { return pttl(server) > 0; }));
  holder.freeze();
  proxy.heal();
  EXPECT_TRUE(eventually([&] { return proxy.forwarded(toward::client) > heard; }));
  EXPECT_TRUE(eventually([&] { return pttl(server) < 0; }));
  holder.thaw();
  EXPECT_THAT(holder.hear(), ::testing::HasSubstr("so late that its lease could have ended"));
  EXPECT_EQ(holder.ask("losses"), "0");
}

TEST_P(Holder, LeavesWithALockAndDoesNotHang) {
  const auto server = start();
  for (const char* way : {"exit", "_exit"}) {
    holder_process holder(server, 800ms);
    holder.acquire();
    holder.say(way);
    EXPECT_EQ(holder.process().wait(), (support::ending{0, 0})) << way;
    EXPECT_TRUE(eventually([&] { return pttl(server) < 0; }, 800ms + bound)) << way;
  }
}

TEST_P(Holder, ExitReleases) {
  const auto server = start();
  holder_process holder(server, 60s);
  holder.acquire();
  holder.say("exit");
  EXPECT_EQ(holder.process().wait(), (support::ending{0, 0}));
  EXPECT_TRUE(eventually([&] { return pttl(server) < 0; }, bound));
}

TEST_P(Holder, ExitsInTimeWhenTheServerIsFrozen) {
  auto server = start();
  holder_process holder(server, 60s);
  holder.acquire();
  server.freeze();
  holder.say("exit");
  EXPECT_EQ(holder.process().wait(10s), (support::ending{0, 0}));
}

TEST_P(Holder, ForkedChildHasNothingAndTheParentKeepsIt) {
  const auto server = start();
  holder_process holder(server, 900ms);
  holder.acquire();
  const auto before = server.command({"GET", value_key("a")}).text;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(holder.ask("fork"), "child 0");
  EXPECT_EQ(server.command({"GET", value_key("a")}).text, before);
  // Its renewals go on.
  const auto first_deadline = net::now() + 900ms;
  EXPECT_TRUE(eventually([&] { return net::now() > first_deadline; }));
  EXPECT_EQ(holder.ask("held"), "held");
  EXPECT_EQ(server.command({"GET", value_key("a")}).text, before);
  EXPECT_EQ(holder.ask("losses"), "0");
  EXPECT_EQ(holder.ask("release"), "released");
}

}  // namespace
}  // namespace holdfast::faults
