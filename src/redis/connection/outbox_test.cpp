#include "redis/connection/outbox.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <new>
#include <string>
#include <utility>

#include "redis/connection/questions_for_tests.hpp"

namespace holdfast::redis {
namespace {

struct word final : question {
  explicit word(std::string what) : text(std::move(what)) {}
  void write(resp::writer& out, monotonic_time) override {
    if (text.empty()) throw std::bad_alloc();
    out.command(1);
    out.arg(text);
  }
  std::string text;
};

std::string encoded(const std::string& text) {
  return "*1\r\n$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

class Outbox : public testing::Test {
 protected:
  Outbox() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    over_.socket().reset(ends[0]);
    server_.reset(ends[1]);
  }
  link::outcome send() {
    const scoped_mutex lock(guard_);
    return out_.send(over_, guard_, false);
  }
  // The bytes that the server has received so far.
  std::string received() {
    std::string all;
    char bytes[65536];
    for (;;) {
      const auto got = ::recv(server_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (got <= 0) return all;
      all.append(bytes, static_cast<std::size_t>(got));
    }
  }

  mutex guard_;
  link over_;
  net::descriptor server_;
  outbox out_;
};

TEST_F(Outbox, SendsAllInOneGo) {
  word ping("PING");
  word time("TIME");
  out_.add(ping, {});
  out_.add(time, {});
  EXPECT_EQ(out_.commands(), 2U);
  EXPECT_TRUE(out_.can_be_sent());
  EXPECT_EQ(send(), link::outcome::data);
  EXPECT_EQ(received(), encoded("PING") + encoded("TIME"));
  EXPECT_EQ(out_.commands(), 0U);
  EXPECT_FALSE(out_.can_be_sent());
}

TEST_F(Outbox, TakesNothingOfTwoWhereThereIsNoMemoryForOne) {
  word ping("PING");
  word time("TIME");
  word none("");
  EXPECT_TRUE(out_.try_add(ping, nullptr, {}));
  EXPECT_FALSE(out_.try_add(time, &none, {}));
  EXPECT_EQ(out_.commands(), 1U);
  send();
  EXPECT_EQ(received(), encoded("PING"));
}

TEST_F(Outbox, GoesOnWhereTheSocketTookNoMore) {
  word large(std::string(2UL * 1024 * 1024, 'x'));
  word ping("PING");
  out_.add(large, {});
  EXPECT_EQ(send(), link::outcome::would_block);
  EXPECT_TRUE(out_.is_blocked());
  out_.add(ping, {});
  EXPECT_FALSE(out_.can_be_sent());
  std::string all;
  while (!out_.empty()) {
    all += received();
    out_.unblock();
    send();
  }
  EXPECT_EQ(all + received(), encoded(large.text) + encoded("PING"));
}

TEST_F(Outbox, ForgetsWhatWasForAnotherLink) {
  word ping("PING");
  out_.add(ping, {});
  out_.clear();
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(out_.commands(), 0U);
}

TEST_F(Outbox, TellsThatTheLinkIsBroken) {
  word ping("PING");
  out_.add(ping, {});
  server_.reset();
  EXPECT_EQ(send(), link::outcome::closed);
}

}  // namespace
}  // namespace holdfast::redis
