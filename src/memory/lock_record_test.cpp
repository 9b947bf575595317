// One lock in memory, without threads and with a time that is given.
#include "memory/lock_record.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace holdfast::memory {
namespace {

using substrate::busy;
using substrate::granted;
using substrate::queued;
using substrate::refused;

class LockRecord : public ::testing::Test {
 protected:
  struct asker {
    substrate::claim claim;
    std::unique_ptr<substrate::demand> wants{};
    std::shared_ptr<std::vector<news>> heard = std::make_shared<std::vector<news>>();
  };
  asker someone(bool waits = true) {
    asker one{
        {.owner = request_id{client_, ++requests_}, .lease = milliseconds{10'000}, .waits = waits}};
    return one;
  }
  asker someone(substrate::demand how, bool waits = true) {
    auto one = someone(waits);
    one.wants = std::make_unique<substrate::demand>(how);
    one.claim.wants = one.wants.get();
    return one;
  }
  substrate::acquire_verdict ask(asker& who) {
    const ear its{who.heard, [to = who.heard.get()](news what) { to->push_back(what); }};
    auto verdict = lock_.acquire(who.claim, its, now_);
    if (const auto* const got = std::get_if<granted>(&verdict)) who.claim.granted = got->major;
    return verdict;
  }
  bool gets(asker& who) { return std::holds_alternative<granted>(ask(who)); }
  bool is_told(const asker& who) { return !who.heard->empty(); }

  monotonic_time now_{nanoseconds{1}};
  const client_id client_{std::array<std::uint8_t, 16>{}};
  std::uint64_t requests_ = 0;
  substrate::token_major counter_ = 0;
  lock_record lock_{counter_};
};

TEST_F(LockRecord, GoesToThoseWhoWaitInTheirOrderForAProvisionalTime) {
  auto first = someone(), second = someone(), third = someone();
  ASSERT_TRUE(gets(first));
  EXPECT_EQ(std::get<queued>(ask(second)).place, 0U);
  EXPECT_EQ(std::get<queued>(ask(third)).place, 1U);
  EXPECT_EQ(lock_.release(first.claim, now_), substrate::release_verdict{substrate::released{}});
  EXPECT_TRUE(is_told(second));
  EXPECT_FALSE(gets(third));
  now_ += substrate::longest_claim;  // the second says nothing more
  EXPECT_TRUE(gets(third));
  EXPECT_EQ(third.claim.granted, first.claim.granted + 2);
}

TEST_F(LockRecord, IsKeptForTheWholeLeaseByAWaiterThatAsksAgain) {
  auto first = someone(), second = someone();
  ASSERT_TRUE(gets(first));
  EXPECT_FALSE(gets(second));
  lock_.release(first.claim, now_);
  EXPECT_TRUE(is_told(second));
  EXPECT_TRUE(gets(second));
  now_ += substrate::longest_claim;
  EXPECT_EQ(lock_.renew(second.claim, now_),
            substrate::renew_verdict{substrate::renewed{second.claim.lease}});
}

TEST_F(LockRecord, AsksForWhatMayBeRetained) {
  auto holder = someone(), next = someone();
  holder.claim.owner = request_id{client_, ++requests_, true};
  ASSERT_TRUE(gets(holder));
  EXPECT_FALSE(gets(next));
  EXPECT_EQ(*holder.heard, std::vector{news::wanted});
}

TEST_F(LockRecord, TellsAChangeWhoseLeaseHasEnded) {
  auto reader = someone({.mode = 'r'}), other = someone({.mode = 'r'});
  ASSERT_TRUE(gets(reader));
  ASSERT_TRUE(gets(other));
  auto change = someone({.mode = 'x', .replaced = reader.claim.owner});
  EXPECT_FALSE(gets(change));
  lock_.release(reader.claim, now_);
  EXPECT_TRUE(is_told(change));
  EXPECT_EQ(std::get<refused>(ask(change)).code, errc::lost);
}

TEST_F(LockRecord, IsNotOvertakenByReadersOfAWaitingWriter) {
  auto reader = someone({.mode = 'r'}), writer = someone({.mode = 'x'}),
       late = someone({.mode = 'r'});
  ASSERT_TRUE(gets(reader));
  EXPECT_FALSE(gets(writer));
  EXPECT_FALSE(gets(late));
  lock_.release(reader.claim, now_);
  EXPECT_TRUE(is_told(writer));
  EXPECT_FALSE(gets(late));
}

TEST_F(LockRecord, WaitsForNobodyWhoHasLeft) {
  auto holder = someone(), gone = someone(), next = someone();
  ASSERT_TRUE(gets(holder));
  EXPECT_FALSE(gets(gone));
  EXPECT_FALSE(gets(next));
  gone.heard.reset();
  lock_.release(holder.claim, now_);
  EXPECT_TRUE(is_told(next));
}

TEST_F(LockRecord, IsNotGivenBackByWhoHasLostIt) {
  auto slow = someone(), next = someone();
  ASSERT_TRUE(gets(slow));
  now_ += slow.claim.lease;
  ASSERT_TRUE(gets(next));
  EXPECT_EQ(lock_.release(slow.claim, now_), substrate::release_verdict{substrate::not_mine{}});
  EXPECT_EQ(lock_.renew(next.claim, now_),
            substrate::renew_verdict{substrate::renewed{next.claim.lease}});
}

TEST_F(LockRecord, IsChangedInPlaceBeforeThoseWhoHoldNothing) {
  auto holder = someone({.mode = 'u'}), writer = someone({.mode = 'x'});
  ASSERT_TRUE(gets(holder));
  EXPECT_FALSE(gets(writer));
  auto change = someone({.mode = 'x', .replaced = holder.claim.owner});
  EXPECT_TRUE(gets(change));
  EXPECT_FALSE(gets(writer));
}

TEST_F(LockRecord, RefusesTwoChangesThatWaitForEachOther) {
  auto one = someone({.mode = 'r'}), other = someone({.mode = 'r'});
  ASSERT_TRUE(gets(one));
  ASSERT_TRUE(gets(other));
  auto upgrade = someone({.mode = 'x', .replaced = one.claim.owner});
  auto opposite = someone({.mode = 'x', .replaced = other.claim.owner});
  EXPECT_TRUE(std::holds_alternative<queued>(ask(upgrade)));
  EXPECT_EQ(std::get<refused>(ask(opposite)).code, errc::would_deadlock);
}

TEST_F(LockRecord, RestoresWhatAWithdrawnChangeHasReplaced) {
  auto holder = someone({.mode = 'u'});
  ASSERT_TRUE(gets(holder));
  auto change = someone({.mode = 'x', .replaced = holder.claim.owner}, false);
  ASSERT_TRUE(gets(change));
  EXPECT_EQ(lock_.renew(holder.claim, now_), substrate::renew_verdict{substrate::not_mine{}});
  EXPECT_EQ(lock_.withdraw(change.claim, now_), substrate::release_verdict{substrate::released{}});
  EXPECT_TRUE(std::holds_alternative<substrate::renewed>(lock_.renew(holder.claim, now_)));
}

TEST_F(LockRecord, RestoresNothingThatIsNotHeldAnyMore) {
  auto holder = someone({.mode = 'u'}), next = someone({.mode = 'x'}, false);
  ASSERT_TRUE(gets(holder));
  auto change = someone({.mode = 'x', .replaced = holder.claim.owner}, false);
  ASSERT_TRUE(gets(change));
  change.claim.forsakes = true;
  EXPECT_EQ(lock_.withdraw(change.claim, now_), substrate::release_verdict{substrate::released{}});
  EXPECT_TRUE(gets(next));
}

TEST_F(LockRecord, TellsOfARenewalHowLongItIsKept) {
  auto holder = someone();
  holder.claim.delay = short_milliseconds{5'000};
  EXPECT_EQ(ask(holder), (substrate::acquire_verdict{granted{1, holder.claim.lease}}));
  EXPECT_EQ(lock_.renew(holder.claim, now_),
            substrate::renew_verdict{substrate::renewed{holder.claim.lease + holder.claim.delay}});
}

TEST_F(LockRecord, CannotRestoreWhatOthersHaveComeInBeside) {
  auto holder = someone({.mode = 'x'}), reader = someone({.mode = 'r'}, false);
  ASSERT_TRUE(gets(holder));
  auto less = someone({.mode = 'r', .replaced = holder.claim.owner}, false);
  ASSERT_TRUE(gets(less));
  ASSERT_TRUE(gets(reader));
  EXPECT_EQ(lock_.withdraw(less.claim, now_), substrate::release_verdict{substrate::not_undone{}});
}

TEST_F(LockRecord, CountsPermits) {
  auto two = someone({.mode = 's', .weight = 2, .limit = 3}, false);
  auto one = someone({.mode = 's', .weight = 1, .limit = 3}, false);
  auto more = someone({.mode = 's', .weight = 1, .limit = 3}, false);
  auto never = someone({.mode = 's', .weight = 4, .limit = 3}, false);
  ASSERT_TRUE(gets(two));
  ASSERT_TRUE(gets(one));
  EXPECT_TRUE(std::holds_alternative<busy>(ask(more)));
  EXPECT_EQ(std::get<refused>(ask(never)).code, errc::invalid_argument);
}

TEST_F(LockRecord, RefusesAnotherKindAndTooManyWhoWait) {
  auto holder = someone(), other_kind = someone({.mode = 'r'}), full = someone();
  ASSERT_TRUE(gets(holder));
  EXPECT_EQ(std::get<refused>(ask(other_kind)).code, errc::foreign_key);
  full.claim.queue_limit = 0;
  EXPECT_EQ(std::get<refused>(ask(full)).code, errc::queue_full);
}

}  // namespace
}  // namespace holdfast::memory
