#include "lease/mode_doubts.hpp"

#include <gtest/gtest.h>

namespace holdfast::leasing {
namespace {

TEST(ModeDoubts, ALeaseThatNobodyChangesIsGoodForItsMode) {
  EXPECT_EQ(mode_doubts{}.good_for('x'), 'x');
}

TEST(ModeDoubts, WhileItMayBecomeAnotherItIsGoodForWhatBothAllow) {
  mode_doubts doubts;
  doubts.may_become('r');
  EXPECT_EQ(doubts.good_for('x'), 'r');
  doubts.stays();
  EXPECT_EQ(doubts.good_for('x'), 'x');
}

TEST(ModeDoubts, EachRequestEndsItsOwnDoubtOnly) {
  mode_doubts doubts;
  doubts.may_become('r');
  doubts.may_become('n');
  doubts.stays();
  EXPECT_EQ(doubts.good_for('x'), 'n') << "nobody says which of the two has ended";
  doubts.stays();
  EXPECT_EQ(doubts.good_for('x'), 'x');
}

TEST(ModeDoubts, WhatNobodyCanSayIsKnownFromTheNextRenewal) {
  mode_doubts doubts;
  doubts.may_become('r');
  doubts.may_stay();
  EXPECT_EQ(doubts.good_for('x'), 'r');
  doubts.confirmed();
  EXPECT_EQ(doubts.good_for('x'), 'x');
}

TEST(ModeDoubts, ARenewalSaysNothingOfARequestThatIsUnderWay) {
  mode_doubts doubts;
  doubts.may_become('r');
  doubts.may_stay();
  doubts.may_become('r');
  doubts.confirmed();
  EXPECT_EQ(doubts.good_for('x'), 'r');
  doubts.confirmed();
  EXPECT_EQ(doubts.good_for('x'), 'r');
  doubts.stays();
  EXPECT_EQ(doubts.good_for('x'), 'x');
}

TEST(ModeDoubts, AnotherServerMayGrantWhatWasGivenUpBefore) {
  mode_doubts doubts;
  doubts.may_become('r');
  doubts.stays();
  doubts.moved();
  EXPECT_EQ(doubts.good_for('d'), 'c');
  doubts.may_become('n');
  doubts.stays();
  EXPECT_EQ(doubts.good_for('d'), 'c') << "that was asked of the new server";
  doubts.confirmed();
  EXPECT_EQ(doubts.good_for('d'), 'c') << "a place in a queue shows in no renewal";
  doubts.moved();
  EXPECT_EQ(doubts.good_for('d'), 'n');
}

}  // namespace
}  // namespace holdfast::leasing
