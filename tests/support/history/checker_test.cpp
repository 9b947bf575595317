// Each invariant with a history that keeps it and one that breaks it, and it alone.
#include "support/history/checker.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace holdfast::history {
namespace {

// Lines of events with times in milliseconds, so that they can be read: "until" too.
std::vector<event> told(const std::string& lines) {
  std::vector<event> history;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) {
    if (line.empty()) continue;
    auto one = parse(line);
    one.time *= 1'000'000;
    one.until *= 1'000'000;
    history.push_back(one);
  }
  return history;
}

// "I4 I8": the invariants that this breaks.
std::string broken(const std::string& lines, const bounds& within = {}) {
  std::string all;
  for (const auto& one : check(story(told(lines)), within)) {
    EXPECT_FALSE(one.events.empty());
    EXPECT_FALSE(one.promise.empty());
    all += (all.empty() ? "" : " ") + one.invariant;
  }
  return all;
}

// Process 1 holds and releases, process 2 waits and follows.
const std::string one_after_the_other =
    "10 called process=1 operation=1 lock=a lease=1000 until=5000\n"
    "20 won process=1 operation=1 lock=a token=1 until=1000\n"
    "30 called process=2 operation=1 lock=a lease=1000 until=5000\n"
    "200 held process=1 operation=1 lock=a until=1180\n"
    "300 releasing process=1 operation=1 lock=a until=2300\n"
    "310 released process=1 operation=1 lock=a\n"
    "320 won process=2 operation=1 lock=a token=2 until=1300\n"
    "400 releasing process=2 operation=1 lock=a until=2400\n"
    "410 released process=2 operation=1 lock=a\n";

std::string replaced(std::string in, const std::string& from, const std::string& to) {
  const auto at = in.find(from);
  EXPECT_NE(at, in.npos) << from;
  return in.replace(at, from.size(), to);
}

// The same with some text replaced.
std::string with(const std::string& from, const std::string& to) {
  return replaced(one_after_the_other, from, to);
}

TEST(Checker, HasNothingAgainstGoodHistories) {
  EXPECT_EQ(broken(""), "");
  EXPECT_EQ(broken(one_after_the_other), "");
}

TEST(Checker, SaysWhatIsBrokenAndShowsIt) {
  const auto found = check(story(told("5 left note=hf:x\n")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(to_text(found[0]),
            "VIOLATED: I11 (promise L1): something of the locks is left at the server\n"
            "    5000000 left note=hf:x\n");
}

TEST(Checker, RefusesWhatNobodyCalled) {
  EXPECT_THROW(story(told("5 won process=1 operation=1 lock=a\n")), std::invalid_argument);
}

// I1

TEST(Checker, WantsOneOwnerAtTheServer) {
  EXPECT_EQ(broken("1 granted lock=a token=1 note=x\n2 granted lock=b token=1 note=y\n"
                   "3 freed lock=a note=x\n4 granted lock=a token=2 note=y\n"
                   "5 emptied until=6\n7 granted lock=a token=3 note=x\n"),
            "");
  EXPECT_EQ(broken("1 granted lock=a token=1 note=x\n2 granted lock=a token=2 note=y\n"), "I1");
}

TEST(Checker, WantsTheServerToGiveToThoseWhoGoTogether) {
  const std::string readers =
      "1 granted lock=a token=1 mode=PR note=x\n2 granted lock=a token=2 mode=PR note=y\n";
  const std::string writer = "4 granted lock=a token=3 mode=EX note=z\n";
  EXPECT_EQ(broken(readers + "3 freed lock=a note=x\n3 freed lock=a note=y\n" + writer), "");
  EXPECT_EQ(broken(readers + "3 freed lock=a note=x\n" + writer), "I1");
  const std::string permits =
      "1 granted lock=a token=1 part=2 whole=3 note=x\n2 granted lock=a token=2 whole=3 note=y "
      "part=";
  EXPECT_EQ(broken(permits + "1\n"), "");
  EXPECT_EQ(broken(permits + "2\n"), "I1");
}

// I2

TEST(Checker, WantsTokensOfTheServerToGrow) {
  const std::string freed = "1 granted lock=a token=5 note=x\n2 freed lock=a note=x\n";
  EXPECT_EQ(broken(freed + "3 granted lock=a token=6 note=y\n"), "");
  EXPECT_EQ(broken(freed + "3 granted lock=a token=5 note=y\n"), "I2");
  EXPECT_EQ(broken(freed + "3 emptied until=4\n5 granted lock=a token=1 note=y\n"), "I2");
}

TEST(Checker, WantsEveryTokenOnce) { EXPECT_EQ(broken(with("token=2", "token=1")), "I2"); }

// I3

TEST(Checker, WantsTokensToFollowTime) {
  const std::string later =
      "500 called process=1 operation=2 lock=a lease=1000\n"
      "510 won process=1 operation=2 lock=a token=18432 until=1500\n"
      "520 releasing process=1 operation=2 lock=a\n"
      "530 released process=1 operation=2 lock=a\n";
  EXPECT_EQ(broken(one_after_the_other + later), "");
  const auto too_large = with("token=2", "token=20480");
  EXPECT_EQ(broken(too_large + later), "I3");
  EXPECT_EQ(broken(too_large + later + "450 emptied until=460\n"), "I3");
  EXPECT_EQ(broken(too_large + later + "450 emptied until=460 note=clock\n"), "");
}

// Called at `from` and given back at once.
std::string turn(int process, int operation, int from, int token, const std::string& mode = "") {
  const auto of =
      " process=" + std::to_string(process) + " operation=" + std::to_string(operation) + " lock=a";
  const auto at = [from](int after) { return std::to_string(from + after); };
  return at(0) + " called" + of + " lease=1000\n" + at(1) + " won" + of +
         " token=" + std::to_string(token) + " until=" + at(900) +
         (mode.empty() ? "" : " mode=" + mode) + "\n" + at(2) + " releasing" + of + "\n" + at(3) +
         " released" + of + "\n";
}

// A server that has lost what it gave gives it to another; its first owner's process passes on.
TEST(Checker, AllowsWhatIsPassedOnToHaveASmallerTokenOnlyWhereTheServerHasForgotten) {
  const auto all = turn(1, 1, 10, 3 * 2048) + turn(2, 1, 20, 5 * 2048);
  const std::string emptied = "15 emptied until=16\n";
  EXPECT_EQ(broken(all + turn(1, 2, 30, 3 * 2048 + 1)), "I3");
  EXPECT_EQ(broken(all + turn(1, 2, 30, 3 * 2048 + 1) + emptied), "");
  EXPECT_EQ(broken(all + turn(1, 2, 30, 4 * 2048) + emptied), "I3") << "a grant of its own";
  EXPECT_EQ(broken(all + turn(3, 1, 30, 3 * 2048 + 1) + emptied), "I3") << "passed on by whom?";
}

// A holder in NL uses nothing: its token is no bound for what goes on among another's threads.
TEST(Checker, AllowsWhatIsPassedOnToHaveASmallerTokenThanOneInNl) {
  const auto first = turn(1, 1, 10, 3 * 2048, "EX"), passed_on = turn(1, 2, 30, 3 * 2048 + 1, "EX");
  EXPECT_EQ(broken(first + turn(2, 1, 20, 5 * 2048, "NL") + passed_on), "");
  EXPECT_EQ(broken(first + turn(2, 1, 20, 5 * 2048, "CR") + passed_on), "I3");
  EXPECT_EQ(broken(first + turn(2, 1, 20, 5 * 2048, "NL") + turn(1, 2, 30, 4 * 2048, "EX")), "I3")
      << "a grant of its own";
}

// Two readers, of whom the second has joined one of before, and a writer after them.
TEST(Checker, WantsTokensOfReadersToFollowThoseOfWritersOnly) {
  const auto turn = [](int operation, int from, const std::string& way, int token) {
    const auto of = " process=1 operation=" + std::to_string(operation) + " lock=a";
    const auto at = [&](int later, const std::string& what) {
      return std::to_string(from + later) + " " + what + of;
    };
    const std::string mode = way == "may write" ? " mode=U" : "";
    return at(0, "called") + " lease=1000 whole=9 " + (mode.empty() ? way : "part=1") + "\n" +
           at(1, "won") + " token=" + std::to_string(token) +
           " until=" + std::to_string(from + 1000) + mode + "\n" + at(2, "releasing") + "\n" +
           at(3, "released") + "\n";
  };
  const std::string reads = "part=1 note=joins", reads_alone = "part=1", writes = "part=9";
  const auto first = turn(1, 10, reads, 20);
  EXPECT_EQ(broken(first + turn(2, 20, reads, 11) + turn(3, 30, writes, 21)), "");
  EXPECT_EQ(broken(first + turn(2, 20, reads_alone, 11)), "I3");
  EXPECT_EQ(broken(turn(1, 10, reads_alone, 20) + turn(2, 20, reads, 11)), "I3");
  EXPECT_EQ(broken(turn(1, 10, writes, 20) + turn(2, 20, reads, 11)), "I3");
  EXPECT_EQ(broken(turn(1, 10, "may write", 20) + turn(2, 20, reads, 11)), "") << "it only reads";
  EXPECT_EQ(broken(first + turn(2, 20, "may write", 11)), "I3");
  EXPECT_EQ(broken(first + turn(2, 20, reads, 11) + turn(3, 30, writes, 19)), "I3");
}

// I4

TEST(Checker, WantsOneToBelieveAtATime) {
  // Not released, but its time is over.
  const auto silent = with("300 releasing process=1 operation=1 lock=a until=2300\n", "");
  EXPECT_EQ(broken(with("320 won", "305 won")), "");
  EXPECT_EQ(broken(with("320 won", "299 won")), "I4");
  EXPECT_EQ(broken(silent), "I4");
}

// Process 1 reads, becomes the writer and a reader again; process 2 reads before and afterwards.
const std::string roles =
    "10 called process=1 operation=1 lock=a lease=1000\n"
    "11 called process=2 operation=1 lock=a lease=1000\n"
    "12 called process=2 operation=2 lock=a lease=1000\n"
    "20 won process=1 operation=1 lock=a token=1 until=1000 mode=U\n"
    "21 won process=2 operation=1 lock=a token=2 until=1000 mode=PR\n"
    "30 changing process=1 operation=1 lock=a token=1 until=400 mode=EX\n"
    "40 releasing process=2 operation=1 lock=a token=2 mode=PR\n"
    "41 released process=2 operation=1 lock=a token=2 mode=PR\n"
    "42 changed process=1 operation=1 lock=a token=3 until=1010 mode=EX\n"
    "45 believed process=1 operation=1 lock=a token=3 until=1010 mode=EX\n"
    "50 changing process=1 operation=1 lock=a token=3 until=400 mode=PR\n"
    "51 believed process=1 operation=1 lock=a token=3 until=1010 mode=PR\n"
    "52 won process=2 operation=2 lock=a token=4 until=1020 mode=PR\n"
    "55 believed process=1 operation=1 lock=a token=3 until=1010 mode=PR\n"
    "60 changed process=1 operation=1 lock=a token=5 until=1050 mode=PR\n"
    "65 believed process=1 operation=1 lock=a token=5 until=1050 mode=PR\n"
    "70 releasing process=1 operation=1 lock=a token=5 mode=PR\n"
    "71 released process=1 operation=1 lock=a token=5 mode=PR\n";

std::string roles_with(const std::string& from, const std::string& to) {
  return replaced(roles, from, to);
}

TEST(Checker, WantsThoseWhoBelieveToGoTogetherByTheTableOfTheModes) {
  const auto two = [](const std::string& one, const std::string& other) {
    return "10 called process=1 operation=1 lock=a lease=1000\n"
           "11 called process=2 operation=1 lock=a lease=1000\n"
           "20 won process=1 operation=1 lock=a token=1 until=900 mode=" +
           one + "\n30 won process=2 operation=1 lock=a token=2 until=900 mode=" + other + "\n";
  };
  EXPECT_EQ(broken(two("PR", "PR")), "");
  EXPECT_EQ(broken(two("U", "PR")), "");
  EXPECT_EQ(broken(two("U", "U")), "I4");
  EXPECT_EQ(broken(two("CW", "CW")), "");
  EXPECT_EQ(broken(two("CW", "PR")), "I4");
  EXPECT_EQ(broken(two("PW", "CR")), "");
  EXPECT_EQ(broken(two("PW", "PR")), "I4");
  EXPECT_EQ(broken(two("EX", "NL")), "");
  EXPECT_EQ(broken(two("EX", "CR")), "I4");
}

TEST(Checker, FollowsChangesOfTheMode) {
  EXPECT_EQ(broken(roles), "");
  // It became the writer while another still read.
  EXPECT_EQ(broken(roles_with("40 releasing", "43 releasing")), "I4");
  // Another read before the writer asked to be a reader.
  EXPECT_EQ(broken(roles_with("52 won", "49 won")), "I4");
  // It may be changed from when that is asked for, and it is what it was if nobody came in.
  const std::string late = "51 believed process=1 operation=1 lock=a token=3 until=1010 mode=";
  EXPECT_EQ(broken(roles_with(late + "PR", late + "EX")), "") << "the call had not begun";
  const std::string back = "55 believed process=1 operation=1 lock=a token=3 until=1010 mode=EX";
  const std::string same = "55 believed process=1 operation=1 lock=a token=3 until=1010 mode=PR";
  const std::string other = "52 won process=2 operation=2 lock=a token=4 until=1020 mode=PR\n";
  EXPECT_EQ(broken(roles_with(same, back)), "I4");
  auto alone = roles_with(same, back);
  alone.erase(alone.find(other), other.size());
  EXPECT_EQ(broken(alone), "");
}

TEST(Checker, WantsNobodyToBelieveInWhatWasChanged) {
  const std::string after = "65 believed process=1 operation=1 lock=a token=5";
  EXPECT_EQ(broken(roles_with(after, "65 believed process=1 operation=1 lock=a token=9")), "");
  EXPECT_EQ(broken(roles + "66 believed process=1 operation=1 lock=a token=3 until=1010 mode=EX\n"),
            "I4");
}

TEST(Checker, WantsChangesToHaveTokensOfTheirOwn) {
  EXPECT_EQ(broken(roles_with("token=5 until=1050 mode=PR\n65", "token=4 until=1050 mode=PR\n65")),
            "I2");
  EXPECT_EQ(broken(roles_with("token=3 until=1010", "token=2 until=1010")), "I2");
}

TEST(Checker, WantsChangesToReturn) {
  EXPECT_EQ(broken(roles_with("until=400 mode=EX", "until=41 mode=EX"), {.return_late = {}}),
            "I10");
}

// A lease that was held at two looks was held in between, whatever it had said.
TEST(Checker, CountsWhatWasSeenFromOutside) {
  const auto looks = [](const std::string& second) {
    return one_after_the_other +
           "25 believed process=1 operation=1 lock=a token=1 until=50 mode=EX\n" + second +
           " believed process=1 operation=1 lock=a token=1 until=340 mode=EX\n";
  };
  EXPECT_EQ(broken(looks("299")), "");
  const auto no_end = [&](std::string text) {
    for (const std::string line : {"300 releasing process=1 operation=1 lock=a until=2300\n",
                                   "310 released process=1 operation=1 lock=a\n",
                                   "200 held process=1 operation=1 lock=a until=1180\n"}) {
      text.erase(text.find(line), line.size());
    }
    return text.replace(text.find("until=1000"), 10, "until=50");
  };
  EXPECT_EQ(broken(no_end(one_after_the_other)), "");
  EXPECT_EQ(broken(no_end(looks("299"))), "I4");
}

TEST(Checker, WantsNobodyToBelieveInMoreThanWasAskedFor) {
  const std::string look = "25 believed process=1 operation=1 lock=a token=1 until=";
  EXPECT_EQ(broken(one_after_the_other + look + "1025\n"), "");
  EXPECT_EQ(broken(one_after_the_other + look + "1026\n"), "I4");
}

TEST(Checker, WantsNobodyToBelieveInWhatEndedWhileItWasFrozen) {
  const std::string begin =
      "10 called process=1 operation=1 lock=a lease=1000\n"
      "20 won process=1 operation=1 lock=a token=1 until=1000\n"
      "500 frozen process=1 until=510\n";
  const std::string held = "1600 believed process=1 operation=1 lock=a token=1 until=2000\n";
  EXPECT_EQ(broken(begin + "1510 thawed process=1\n" + held), "") << "renewed before it ended";
  EXPECT_EQ(broken(begin + "1511 thawed process=1\n" + held), "I4");
  const std::string changed =
      "480 changing process=1 operation=1 lock=a token=1 mode=PR\n"
      "1595 changed process=1 operation=1 lock=a token=2 until=2000 mode=PR\n"
      "1600 believed process=1 operation=1 lock=a token=2 until=2000 mode=PR\n";
  EXPECT_EQ(broken(begin + "1590 thawed process=1\n" + changed), "") << "granted meanwhile";
}

TEST(Checker, ExcusesTwoOwnersForALeaseAfterTheServerWasEmptied) {
  const std::string emptied = "250 emptied until=260\n";
  EXPECT_EQ(broken(with("320 won", "265 won") + emptied), "");
  EXPECT_EQ(broken(with("320 won", "265 won") + "25 emptied until=26\n"), "");
  EXPECT_EQ(broken(with("320 won", "265 won") + "280 emptied until=290\n"), "I4");
}

// Three have a permit of three, one of which is given back before a fourth has it.
const std::string three_permits =
    "10 called process=1 operation=1 lock=a lease=1000 part=1 whole=3\n"
    "11 called process=2 operation=1 lock=a lease=1000 part=1 whole=3\n"
    "12 called process=3 operation=1 lock=a lease=1000 part=1 whole=3\n"
    "13 called process=4 operation=1 lock=a lease=1000 part=1 whole=3\n"
    "20 won process=1 operation=1 lock=a token=1 until=1000\n"
    "21 won process=2 operation=1 lock=a token=2 until=1000\n"
    "22 won process=3 operation=1 lock=a token=3 until=1000\n"
    "30 releasing process=2 operation=1 lock=a\n"
    "31 released process=2 operation=1 lock=a\n"
    "32 won process=4 operation=1 lock=a token=4 until=1000\n";

TEST(Checker, WantsNoMoreToBelieveThanThereMayBe) {
  EXPECT_EQ(broken(three_permits), "");
  const std::string two_of_them =
      "13 called process=5 operation=1 lock=a lease=1000 part=2 whole=3\n"
      "33 won process=5 operation=1 lock=a token=5 until=1000\n";
  EXPECT_EQ(broken(three_permits + two_of_them), "I4");
  EXPECT_EQ(broken(three_permits + two_of_them + "15 emptied until=16\n"), "");
  const std::string later =
      "1005 called process=5 operation=1 lock=a lease=1000 part=2 whole=3\n"
      "1010 won process=5 operation=1 lock=a token=5 until=1900\n";
  EXPECT_EQ(broken(three_permits + later), "");
}

// I13

TEST(Checker, WantsNothingToChangeUnderHolders) {
  const std::string twice =
      "21 saw process=1 operation=1 lock=a value=7\n"
      "250 saw process=1 operation=1 lock=a value=7\n";
  EXPECT_EQ(broken(one_after_the_other + twice), "");
  const std::string changed =
      "21 saw process=1 operation=1 lock=a value=7\n"
      "250 saw process=1 operation=1 lock=a value=8\n";
  EXPECT_EQ(broken(one_after_the_other + changed), "I13");
  EXPECT_EQ(broken(one_after_the_other + changed + "5 emptied until=6\n"), "");
  const std::string too_late =
      "21 saw process=1 operation=1 lock=a value=7\n"
      "305 saw process=1 operation=1 lock=a value=8\n";
  EXPECT_EQ(broken(one_after_the_other + too_late), "");
  const std::string by_itself = "60 written process=1 operation=1 lock=a token=1 value=1 note=8\n";
  EXPECT_EQ(broken(one_after_the_other + changed + by_itself), "");
}

TEST(Checker, WantsNothingToChangeWhileAReaderBecomesTheWriter) {
  const std::string before = "22 saw process=1 operation=1 lock=a token=1 value=7 mode=U\n";
  const std::string as_writer = "44 saw process=1 operation=1 lock=a token=3 mode=EX value=";
  EXPECT_EQ(broken(roles + before + as_writer + "7\n"), "");
  EXPECT_EQ(broken(roles + before + as_writer + "8\n"), "I13");
  // A holder that goes to a weaker mode lets others in.
  const auto less = roles_with("until=400 mode=EX", "until=400 mode=CR");
  EXPECT_EQ(broken(less + before + as_writer + "8\n"), "");
}

// I5

TEST(Checker, WantsWritesInTheOrderOfTheirTokens) {
  const std::string writes = "1 written lock=a token=4 value=1 note=1\n2 refused lock=a token=3\n";
  EXPECT_EQ(broken(writes + "3 written lock=a token=4 value=2 note=2\n"), "");
  EXPECT_EQ(broken(writes + "3 written lock=a token=3 value=2 note=2\n"), "I5");
}

// I6

TEST(Checker, WantsEveryWriteToCount) {
  const std::string writes =
      "1 written lock=a token=4 value=1 note=1\n2 written lock=a token=5 value=2 note=";
  EXPECT_EQ(broken(writes + "2\n3 total lock=a value=2\n"), "");
  EXPECT_EQ(broken(writes + "1\n3 total lock=a value=1\n"), "I6");
}

// I7

TEST(Checker, WantsTheLockOfTheDeadToGoOn) {
  const std::string begin =
      "10 called process=1 operation=1 lock=a lease=1000\n"
      "20 won process=1 operation=1 lock=a token=1 until=1000\n"
      "30 called process=2 operation=1 lock=a lease=1000\n"
      "500 killed process=1\n";
  EXPECT_EQ(broken(begin + "1600 won process=2 operation=1 lock=a token=2 until=2500\n"), "");
  EXPECT_EQ(broken(begin + "1800 won process=2 operation=1 lock=a token=2 until=2700\n"), "I7");
}

TEST(Checker, WantsTheLockOfTheFrozenToGoOn) {
  const auto run = [](const std::string& won) {
    return "10 called process=1 operation=1 lock=a lease=1000\n"
           "20 won process=1 operation=1 lock=a token=1 until=1000\n"
           "30 called process=2 operation=1 lock=a lease=1000\n"
           "500 frozen process=1\n" +
           won +
           " won process=2 operation=1 lock=a token=2 until=2700\n"
           "3000 thawed process=1\n"
           "3001 lost process=1 operation=1 lock=a\n";
  };
  EXPECT_EQ(broken(run("1600")), "");
  EXPECT_EQ(broken(run("1800")), "I7");
}

TEST(Checker, AllowsTimeForEachOneBefore) {
  const std::string run =
      "10 called process=1 operation=1 lock=a lease=1000\n"
      "20 won process=1 operation=1 lock=a token=1 until=1000\n"
      "25 called process=3 operation=1 lock=a lease=1000 until=30\n"
      "30 called process=2 operation=1 lock=a lease=1000\n"
      "40 failed process=3 operation=1 lock=a\n"
      "500 killed process=1\n"
      "1800 won process=2 operation=1 lock=a token=2 until=2700\n";
  EXPECT_EQ(broken(run), "I7");
  EXPECT_EQ(broken(run, {.lock_orphaned = {milliseconds(250), milliseconds(100)}}), "");
}

// I8

TEST(Checker, WantsAFreeLockToBeTaken) {
  EXPECT_EQ(broken(with("320 won process=2", "390 won process=2")), "");
  EXPECT_EQ(
      broken(with("320 won process=2", "390 won process=2"), {.lock_free = {milliseconds(50)}}),
      "I8");
  // Nobody waits: it may be free as long as it likes.
  EXPECT_EQ(broken(with("30 called process=2", "319 called process=2"),
                   {.lock_free = {milliseconds(10)}}),
            "");
  EXPECT_EQ(broken(with("320 won process=2", "390 won process=2") + "305 broken until=389\n",
                   {.lock_free = {milliseconds(50)}}),
            "");
}

TEST(Checker, WantsAllToBeServedInTheEnd) {
  const bounds within{.healing = milliseconds(200)};
  EXPECT_EQ(broken(one_after_the_other + "150 healed\n", within), "");
  EXPECT_EQ(broken(one_after_the_other + "100 healed\n", within), "I8");
  const auto refused = with(
      "320 won process=2 operation=1 lock=a token=2 until=1300\n"
      "400 releasing process=2 operation=1 lock=a until=2400\n"
      "410 released process=2 operation=1 lock=a\n",
      "320 failed process=2 operation=1 lock=a note=unavailable\n");
  EXPECT_EQ(broken(refused + "330 healed\n", within), "");
  EXPECT_EQ(broken(refused + "310 healed\n", within), "I8");
  EXPECT_EQ(broken(refused + "310 healed\n", {.healing = milliseconds(4700)}), "");
}

// I9

TEST(Checker, WantsTheOrderOfArrivalInAFairLock) {
  const auto run = [](const std::string& first, const std::string& second) {
    return "10 called process=1 operation=1 lock=a lease=1000 note=fair\n"
           "100 called process=2 operation=1 lock=a lease=1000 note=fair\n"
           "120 won process=" +
           first +
           " operation=1 lock=a token=1 until=900\n"
           "130 releasing process=" +
           first +
           " operation=1 lock=a\n"
           "140 released process=" +
           first +
           " operation=1 lock=a\n"
           "150 won process=" +
           second +
           " operation=1 lock=a token=2 until=900\n"
           "160 releasing process=" +
           second +
           " operation=1 lock=a\n"
           "170 released process=" +
           second + " operation=1 lock=a\n";
  };
  EXPECT_EQ(broken(run("1", "2")), "");
  EXPECT_EQ(broken(run("2", "1")), "I9");
  EXPECT_EQ(broken(run("2", "1"), {.call_arrives = milliseconds(100)}), "");
}

// I10

TEST(Checker, WantsCallsToReturn) {
  const bounds strict{.return_late = milliseconds(0)};
  EXPECT_EQ(broken(with("until=5000", "until=20"), strict), "");
  EXPECT_EQ(broken(with("until=5000", "until=19"), strict), "I10");
  EXPECT_EQ(broken(with("until=2300", "until=309"), strict), "I10");
  EXPECT_EQ(broken("1 called process=1 operation=1 lock=a lease=9 until=5\n9 broken until=9\n",
                   {.return_late = milliseconds(2)}),
            "I10");
  EXPECT_EQ(
      broken(with("until=5000", "until=19") + "11 frozen process=1\n15 thawed process=1\n", strict),
      "");
}

TEST(Checker, WantsLossesToBeToldOnceAndInTime) {
  const std::string ended =
      "10 called process=1 operation=1 lock=a lease=1000\n"
      "20 won process=1 operation=1 lock=a token=1 until=500\n"
      "501 ended process=1 operation=1 lock=a\n";
  const std::string lost = "510 lost process=1 operation=1 lock=a\n";
  EXPECT_EQ(broken(ended + lost), "");
  EXPECT_EQ(broken(ended), "I10");
  EXPECT_EQ(broken(ended + lost + lost), "I10");
  EXPECT_EQ(broken(ended + lost + "511 held process=1 operation=1 lock=a until=600\n"), "I10");
  EXPECT_EQ(broken(ended + lost + "511 believed process=1 operation=1 lock=a until=600\n"), "I10");
  EXPECT_EQ(broken(ended + "800 lost process=1 operation=1 lock=a\n"), "I10");
}

// I11

TEST(Checker, WantsNothingToBeLeft) {
  EXPECT_EQ(broken("5 healed\n"), "");
  EXPECT_EQ(broken("5 left note=hf:{a}:q\n"), "I11");
}

// I12

TEST(Checker, WantsARequestWithoutAnswerToEndWithItsLease) {
  const std::string begin =
      "10 called process=1 operation=1 lock=a lease=1000\n"
      "20 called process=2 operation=1 lock=a lease=1000\n"
      "500 unclear process=1 operation=1 lock=a\n";
  const bounds within{.lock_free = {milliseconds(490)}};
  EXPECT_EQ(broken(begin + "1600 won process=2 operation=1 lock=a token=2 until=2500\n", within),
            "");
  EXPECT_EQ(broken(begin + "1800 won process=2 operation=1 lock=a token=2 until=2700\n", within),
            "I12");
}

}  // namespace
}  // namespace holdfast::history
