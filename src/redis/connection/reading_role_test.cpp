#include "redis/connection/reading_role.hpp"

#include <gtest/gtest.h>

#include "redis/connection/questions_for_tests.hpp"

namespace holdfast::redis {
namespace {

constexpr std::size_t calm = 3;
constexpr std::size_t crowd = 4;

class ReadingRole : public testing::Test {
 protected:
  ReadingRole() { EXPECT_TRUE(role_.take(leader_, true)); }

  void ask(question& what) { in_flight_.push(what); }
  reading_role::load load(std::size_t answered = 1) const { return {in_flight_, answered, crowd}; }
  void pass_on(std::size_t answered = 1) { role_.pass_on(leader_, load(answered)); }
  // As the background thread, after a batch with the answer of a thread.
  bool leave(std::size_t answered = 1, bool all_sent = true) {
    return role_.leave_to_callers(load(answered), true, all_sent);
  }

  reading_role role_{calm};
  request_queue in_flight_;
  net::waiter leader_{net::waiter::kind::caller};
  net::waiter follower_{net::waiter::kind::caller};
  net::waiter newest_{net::waiter::kind::caller};
  question lazy_;
  question followers_{&follower_};
  question newests_{&newest_};
};

TEST_F(ReadingRole, IsTakenByOneThread) {
  EXPECT_FALSE(role_.is_free());
  EXPECT_FALSE(role_.take(follower_, true));
  role_.take_in_background_if_free();
  EXPECT_FALSE(role_.is_in_background());
}

TEST_F(ReadingRole, IsNotTakenWhereThereIsNothingToRead) {
  role_.give_up();
  EXPECT_FALSE(role_.take(leader_, false));
  leader_.done();
  EXPECT_FALSE(role_.take(leader_, true));
}

TEST_F(ReadingRole, EndsWithTheLastAnswer) {
  pass_on();
  EXPECT_TRUE(role_.is_free());
}

TEST_F(ReadingRole, GoesToTheNewestThatAsked) {
  ask(followers_);
  ask(newests_);
  pass_on();
  EXPECT_FALSE(follower_.was_offered_role());
  EXPECT_TRUE(role_.take(newest_, true));
  EXPECT_FALSE(newest_.was_offered_role());
}

TEST_F(ReadingRole, GoesToTheOldestListenerFirst) {
  net::waiter listener{net::waiter::kind::caller};
  role_.listen(&listener);
  role_.listen(&newest_);
  ask(followers_);
  pass_on();
  EXPECT_TRUE(listener.was_offered_role());
  EXPECT_FALSE(newest_.was_offered_role());
}

TEST_F(ReadingRole, GoesToTheBackgroundThreadWhereNobodyWaits) {
  ask(lazy_);
  pass_on();
  EXPECT_TRUE(role_.is_in_background());
}

TEST_F(ReadingRole, GoesToTheBackgroundThreadWhereNoThreadListens) {
  role_.listen(nullptr);
  pass_on();
  EXPECT_TRUE(role_.is_in_background());
  role_.unlisten(nullptr);
  EXPECT_TRUE(role_.nobody_listens());
}

TEST_F(ReadingRole, GoesToTheBackgroundThreadInACrowd) {
  ask(followers_);
  ask(newests_);
  pass_on(crowd - 2);
  EXPECT_TRUE(role_.is_in_background());
  EXPECT_FALSE(newest_.was_offered_role());
}

TEST_F(ReadingRole, WaitsForAnExecutorThatWillBeBack) {
  const net::waiter executor{net::waiter::kind::executor};
  ask(lazy_);
  role_.pass_on(executor, load());
  EXPECT_TRUE(role_.is_free());
}

TEST_F(ReadingRole, GoesBackToCallersAfterSoManyCalmBatches) {
  role_.take_in_background();
  ask(followers_);
  for (std::size_t i = 1; i < calm; ++i) EXPECT_FALSE(leave(0));
  EXPECT_TRUE(leave(0));
  EXPECT_TRUE(follower_.was_offered_role());
}

TEST_F(ReadingRole, StaysInTheBackgroundWithHalfACrowd) {
  role_.take_in_background();
  ask(followers_);
  for (std::size_t i = 0; i < 2 * calm; ++i) EXPECT_FALSE(leave(1));
  EXPECT_FALSE(leave(0));  // counted from the last crowd on
  EXPECT_TRUE(role_.is_in_background());
}

TEST_F(ReadingRole, StaysInTheBackgroundWhileSomethingIsToBeSent) {
  role_.take_in_background();
  for (std::size_t i = 0; i < 2 * calm; ++i) EXPECT_FALSE(leave(0, false));
  EXPECT_TRUE(leave(0));
  EXPECT_TRUE(role_.is_free());  // nothing is in flight: the thread that was answered may be back
}

// One is asleep, or it could not be asked.
TEST_F(ReadingRole, GoesBackAtOnceToAnExecutorThatClaimsIt) {
  role_.take_in_background();
  role_.claim(leader_);
  EXPECT_TRUE(leave(crowd));
  EXPECT_TRUE(leader_.was_offered_role());
}

TEST_F(ReadingRole, ForgetsAClaim) {
  role_.take_in_background();
  role_.claim(leader_);
  role_.forget(leader_);
  EXPECT_FALSE(leave(crowd));
  EXPECT_TRUE(role_.is_in_background());
}

}  // namespace
}  // namespace holdfast::redis
