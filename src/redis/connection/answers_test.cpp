#include "redis/connection/answers.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <vector>

#include "redis/connection/questions_for_tests.hpp"

namespace holdfast::redis {
namespace {

struct unsubscription final : question {
  unsubscription() : question(nullptr, answered_by::unsubscribe) {}
};
struct parting final : question {
  parting() : question(nullptr, answered_by::time) {}
};

struct new_login final : question {
  new_login() : question(nullptr, answered_by::time_after_login) {}
  void on_first_answer(const resp::value& said) noexcept override { first = said.text; }
  std::string first;
};

constexpr std::string_view message = ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n";
constexpr std::string_view unsubscribed = ">3\r\n$11\r\nunsubscribe\r\n$1\r\nc\r\n:0\r\n";

class Answers : public testing::Test {
 protected:
  answers::summary read(std::string_view bytes, const net::waiter* leader = nullptr) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    link over;
    over.socket().reset(ends[0]);
    net::descriptor server(ends[1]);
    EXPECT_EQ(::send(ends[1], bytes.data(), bytes.size(), 0), ssize_t(bytes.size()));
    came_.clear();
    EXPECT_EQ(over.receive(came_.batch()), link::outcome::data);
    return came_.match(in_flight_, leader);
  }
  // The values that were handed out, in order.
  std::string handed_out() {
    std::string all;
    came_.hand_out([&](resp::value&, std::size_t i) { all += "push " + std::to_string(i) + " "; },
                   [&](request&, resp::value& said, std::size_t i) {
                     all += said.text + " " + std::to_string(i) + " ";
                   });
    return all;
  }

  answers came_;
  request_queue in_flight_;
  net::waiter leader_{net::waiter::kind::caller};
  question lazy_;
  question mine_{&leader_};
};

TEST_F(Answers, BelongToTheRequestsInTheirOrder) {
  in_flight_.push(lazy_);
  in_flight_.push(mine_);
  EXPECT_FALSE(read("+a\r\n", &leader_).for_leader);
  EXPECT_EQ(handed_out(), "a 0 ");
  const auto found = read("+b\r\n", &leader_);
  EXPECT_TRUE(found.for_leader);
  EXPECT_TRUE(found.for_a_thread);
  EXPECT_EQ(came_.matched(), 1U);
  EXPECT_TRUE(in_flight_.empty());
  EXPECT_EQ(handed_out(), "b 0 ");
}

// It may leave before its answer is handed out.
TEST_F(Answers, NameNoThreadAnyMore) {
  in_flight_.push(mine_);
  read("+a\r\n");
  EXPECT_EQ(mine_.sleeper(), nullptr);
}

TEST_F(Answers, MayHavePushesBetweenThem) {
  in_flight_.push(lazy_);
  in_flight_.push(mine_);
  const auto found = read("+a\r\n" + std::string(message) + "+b\r\n" + std::string(message));
  EXPECT_TRUE(found.credible);
  EXPECT_EQ(handed_out(), "a 0 push 1 b 2 push 3 ");
}

TEST_F(Answers, AreMessagesWhereThatIsWhatWasAsked) {
  unsubscription asked;
  in_flight_.push(asked);
  EXPECT_EQ(read(std::string(message) + std::string(unsubscribed)).credible, true);
  EXPECT_EQ(handed_out(), "push 0  1 ");
  EXPECT_TRUE(in_flight_.empty());
}

TEST_F(Answers, OfAPartingMayBePrecededByItsRefusal) {
  parting asked;
  in_flight_.push(asked);
  EXPECT_TRUE(read("-MOVED 1 127.0.0.1:7000\r\n*2\r\n$1\r\n1\r\n$1\r\n2\r\n").credible);
  EXPECT_EQ(came_.matched(), 1U);
  EXPECT_EQ(handed_out(), " 1 ");
}

// A server may say nothing of an AUTH that it refuses: the answer to TIME ends it.
TEST_F(Answers, OfALoginEndWithTheTime) {
  const std::string time = "*2\r\n$1\r\n1\r\n$1\r\n2\r\n";
  for (const std::string last :
       {time.c_str(), "-NOAUTH Authentication required.\r\n",
        "-NOPERM you may not run the 'time' command\r\n", "-BUSY a script runs\r\n"}) {
    for (const std::string first : {"", "OK", "WRONGPASS no", "ERR no such token"}) {
      new_login asked;
      in_flight_.push(asked);
      in_flight_.push(lazy_);
      const std::string line = first.empty() ? "" : (first == "OK" ? "+" : "-") + first + "\r\n";
      EXPECT_TRUE(read(line + std::string(message) + last + "+a\r\n").credible) << line << last;
      EXPECT_EQ(came_.matched(), 2U) << line << last;
      EXPECT_EQ(asked.first, first);
      EXPECT_TRUE(handed_out().ends_with("a " + std::to_string(first.empty() ? 2 : 3) + " "));
    }
  }
}

TEST_F(Answers, ThatNobodyAskedForAreNotBelieved) {
  EXPECT_FALSE(read("+a\r\n").credible);
  in_flight_.push(lazy_);
  EXPECT_FALSE(read("+a\r\n+b\r\n").credible);
  EXPECT_EQ(handed_out(), "a 0 ");  // the values before it are
}

}  // namespace
}  // namespace holdfast::redis
