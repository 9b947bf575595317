// A server whose answers do not come: a call that asks for several locks ends in time.
#include <functional>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::generous;
using support::toward;

using attempt = std::function<result<lease>(acquire_options, std::stop_token)>;

task<result<lease>> ask(lock wanted, acquire_options options, std::stop_token stop) {
  co_return co_await wanted.async_try_acquire(options, stop);
}

// How several locks are asked for.
std::vector<attempt> attempts(const lock& wanted) {
  return {[wanted](acquire_options options, std::stop_token stop) {
            return wanted.try_acquire(options, stop);
          },
          [wanted](acquire_options options, std::stop_token stop) {
            return sync_wait(ask(wanted, options, stop));
          }};
}

class SilentServer : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start());
    proxy_.emplace(net::unix_endpoint{server_->socket()});
    redis_.emplace(proxy_->url(), patient());
    ASSERT_TRUE(wanted().try_acquire());
  }

  lock wanted() const { return all_of({redis_->mutex("a"), redis_->mutex("b")}); }
  bool is_granted() const { return !server_->command({"GET", value_key("a")}).text.empty(); }

  // The server is asked, and what it says is not heard. The call must not wait for that.
  void expect_end(const std::function<result<lease>()>& call, errc reason) {
    proxy_->stall(toward::client);
    const auto began = net::now();
    const auto got = call();
    EXPECT_LT(net::now() - began, generous / 2);
    expect_failure(got, reason, "");
    proxy_->heal();
    const client other(server_->url(), patient());
    for (const auto* name : {"a", "b"}) {
      EXPECT_TRUE(other.mutex(name).try_acquire({.timeout = generous})) << name;
    }
  }

  std::optional<private_server> server_;
  std::optional<fault_proxy> proxy_;
  std::optional<client> redis_;
};
HOLDFAST_ON_EACH_SERVER(SilentServer);

TEST_P(SilentServer, SeveralLocksAreNotWaitedForBeyondTheTimeout) {
  for (const auto& how : attempts(wanted())) {
    expect_end([&] { return how({.timeout = 30ms}, {}); }, errc::timed_out);
  }
}

TEST_P(SilentServer, SeveralLocksAreNotWaitedForAfterAStop) {
  for (const auto timeout : {generous, 0ms}) {
    for (const auto& how : attempts(wanted())) {
      std::stop_source stop;
      std::jthread stops([&] {
        (void)eventually([&] { return is_granted(); });
        stop.request_stop();
      });
      expect_end([&] { return how({.timeout = timeout}, stop.get_token()); }, errc::cancelled);
    }
  }
}

TEST_P(SilentServer, SeveralLocksThatComeBeforeTheTimeoutAreHad) {
  for (const auto& how : attempts(wanted())) {
    std::stop_source stop;
    auto held = how({.timeout = generous}, stop.get_token());
    ASSERT_TRUE(held) << held.error().what();
    stop.request_stop();
    EXPECT_TRUE(held->held());
    EXPECT_TRUE(held->release());
  }
}

}  // namespace
}  // namespace holdfast::faults
