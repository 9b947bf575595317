// Ten thousand that want one lock.

#include <algorithm>
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/resident_memory.hpp"

namespace holdfast::conformance {
namespace {

constexpr std::size_t crowd = 10'000;
#ifdef HOLDFAST_SANITIZED
constexpr std::size_t most_bytes_each = 65'536;  // with what the sanitizer keeps
#else
constexpr std::size_t most_bytes_each = 4096;
#endif

task<> take_a_turn(lock wanted, std::size_t number, std::vector<std::size_t>& served,
                   fencing_token& last) {
  const auto held = co_await wanted.async_acquire({.timeout = 10min});
  EXPECT_GT(held.token(), last);
  last = held.token();
  served.push_back(number);
}

class Crowd : public mutex_test {
 protected:
  // All want the lock while another client holds it, until `waiting` of them wait at the server.
  void serve(const client& crowded, const lock& wanted, std::size_t waiting) {
    auto first = another_client().mutex(wanted.name()).acquire();
    last_ = first.token();
    const auto before = support::resident_bytes();
    std::vector<task<>> all;
    for (std::size_t i = 0; i < crowd; ++i) {
      all.push_back(take_a_turn(wanted, i, served_, last_));
    }
    std::thread opens([&] {
      const auto all_wait = [&] {
        return inspector{patient()}.status(wanted.name()).waiting == waiting;
      };
      EXPECT_TRUE(eventually(all_wait, 5min));
      // Its sample of the server's time was as long under way as the questions of all. A grant is
      // not believed by such a clock (decision 7): one question more tells it better.
      expect_reason(crowded.mutex(wanted.name(), {.lease = 20s, .fair = true})
                        .try_acquire({.timeout = 100ms}),
                    errc::timed_out);
      bytes_each_ =
          (std::max(support::resident_bytes(), before) - before) / crowd;  // it may shrink
      EXPECT_TRUE(first.release());
    });
    sync_wait(when_all(std::move(all)));
    opens.join();
    EXPECT_EQ(served_.size(), crowd);
    EXPECT_LT(bytes_each_, most_bytes_each);
    EXPECT_TRUE(eventually([&] {  // the last one does not wait for the answer
      return server().command({"EXISTS", "hf:{a}", "hf:{a}:w", "hf:{a}:i"}).number == 0;
    }));
  }

  // Ten thousand questions at once keep the server of a busy machine from answering for a while:
  // then they would be asked again.
  client patient() const { return client{server().url(), {.response_timeout = 5min}}; }

  std::vector<std::size_t> served_;
  std::size_t bytes_each_ = 0;

 private:
  fencing_token last_{};
};
HOLDFAST_ON_EACH_SERVER(Crowd);

TEST_P(Crowd, OfAFairLockIsServedInItsOrderForTwoCommandsEach) {
  const auto begin = net::now();
  const auto redis = patient();
  serve(redis, redis.mutex("a", {.fair = true}), crowd);
  const std::chrono::duration<double> took = net::now() - begin;
  EXPECT_TRUE(std::is_sorted(served_.begin(), served_.end()));
  // A waiter asks now and then: those that stand far behind about once a minute.
  EXPECT_LT(called("evalsha"), (2.2 + took / 30s) * crowd);
}

TEST_P(Crowd, OfOneClientStandsAtTheServerAsOneRequest) {
  const auto begin = net::now();
  serve(redis(), redis().mutex("a"), 1);
  const auto took = net::now() - begin;
  // It goes to the server after 5 ms, or as many holders as one major has tokens.
  EXPECT_LT(called("evalsha"), 2 * (took / 5ms + crowd / 2048) + 20);
}

}  // namespace
}  // namespace holdfast::conformance
