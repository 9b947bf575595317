// The bridge to Boost.Asio: what comes as a value, where handlers run, and what ends the waiting.
#include "conformance/conformance.hpp"

#ifdef HOLDFAST_HAS_BOOST_ASIO

#include <thread>
#include <utility>  // Boost 1.74 forgets it

#include <boost/asio.hpp>

#include <holdfast/asio.hpp>

namespace holdfast::conformance {
namespace {

namespace asio = boost::asio;

class AsioBridge : public mutex_test {};
HOLDFAST_ON_EACH_SERVER(AsioBridge);

TEST_P(AsioBridge, GivesWhatIsBusyAsAValue) {
  const auto held = another_client().mutex("a").acquire();
  expect_reason(asio_try_acquire(redis().mutex("a"), {}, asio::use_future).get(), errc::busy);
  const auto patient = asio_acquire(redis().mutex("a"), {.timeout = 20ms}, asio::use_future).get();
  expect_reason(patient, errc::timed_out);
}

TEST_P(AsioBridge, GivesErrorsAsValues) {
  const client nobody{"unix:///no/such.sock"};
  expect_reason(asio_try_acquire(nobody.mutex("a"), {}, asio::use_future).get(), errc::unavailable);
  expect_reason(asio_acquire(redis().mutex("a"), {.timeout = -1ms}, asio::use_future).get(),
                errc::invalid_argument);
}

TEST_P(AsioBridge, ReleasesAndTellsWhatWasLost) {
  const auto wanted = redis().mutex("a", {.lease = 50ms, .renewal = renewal::none});
  auto held = asio_acquire(wanted, {}, asio::use_future).get();
  ASSERT_TRUE(held) << held.error().what();
  EXPECT_TRUE(eventually([&] { return !held->held(); }));
  expect_reason(asio_release(*std::move(held), asio::use_future).get(), errc::lost);
  auto again = asio_acquire(redis().mutex("a"), {}, asio::use_future).get();
  ASSERT_TRUE(again) << again.error().what();
  EXPECT_TRUE(asio_release(*std::move(again), asio::use_future).get());
  EXPECT_TRUE(another_client().mutex("a").try_acquire());
}

TEST_P(AsioBridge, WaitingIsEndedByAStopToken) {
  const auto held = another_client().mutex("a").acquire();
  std::stop_source enough;
  auto waiting =
      asio_acquire(redis().mutex("a"), {.timeout = generous}, asio::use_future, enough.get_token());
  ASSERT_TRUE(waits("a", 1));
  enough.request_stop();
  expect_reason(waiting.get(), errc::cancelled);
  EXPECT_TRUE(waits("a", 0));
}

// Also when the lock is there at once; and until then run() does not come back.
TEST_P(AsioBridge, HandlersRunOnTheirExecutorAndNeverInTheInitiatingFunction) {
  asio::io_context context;
  int ran = 0;
  const auto on_context = [&](auto&& handler) {
    return asio::bind_executor(context.get_executor(), std::forward<decltype(handler)>(handler));
  };
  std::thread::id where;
  asio_try_acquire(redis().mutex("a"), {}, on_context([&](result<lease> got) {
                     ++ran;
                     ASSERT_TRUE(got) << got.error().what();
                     where = std::this_thread::get_id();
                     asio_release(*std::move(got), on_context([&](result<void> released) {
                       EXPECT_TRUE(released);
                       EXPECT_EQ(std::this_thread::get_id(), where);
                       ++ran;
                     }));
                     EXPECT_EQ(ran, 1);
                   }));
  EXPECT_EQ(ran, 0);
  std::thread runner([&] { context.run(); });
  const auto id = runner.get_id();
  runner.join();
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(where, id);
}

asio::awaitable<void> take_a_turn(lock wanted, int& inside, int& turns) {
  auto held = co_await asio_acquire(wanted, {.timeout = generous}, asio::use_awaitable);
  EXPECT_TRUE(held);
  EXPECT_EQ(inside++, 0);
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
  --inside;
  ++turns;
  EXPECT_TRUE(co_await asio_release(std::move(*held), asio::use_awaitable));
}

TEST_P(AsioBridge, AwaitablesExcludeEachOther) {
  asio::io_context context;
  int inside = 0, turns = 0;
  for (int i = 0; i < 20; ++i) {
    asio::co_spawn(context, take_a_turn(redis().mutex("a"), inside, turns), asio::detached);
  }
  context.run();
  EXPECT_EQ(turns, 20);
}

#if BOOST_ASIO_VERSION >= 101900  // Boost 1.77

TEST_P(AsioBridge, WaitingIsEndedByTheHandlersSlot) {
  const auto held = another_client().mutex("a").acquire();
  asio::cancellation_signal enough;
  auto waiting = asio_acquire(redis().mutex("a"), {.timeout = generous},
                              asio::bind_cancellation_slot(enough.slot(), asio::use_future));
  ASSERT_TRUE(waits("a", 1));
  enough.emit(asio::cancellation_type::terminal);
  expect_reason(waiting.get(), errc::cancelled);
  enough.emit(asio::cancellation_type::terminal);  // it is over: nothing happens
  EXPECT_TRUE(waits("a", 0));
}

#endif

}  // namespace
}  // namespace holdfast::conformance

#else

TEST(AsioBridge, IsTested) { GTEST_SKIP() << "no usable Boost.Asio: install libboost-dev"; }

#endif
