// The program's HTTP server against clients that are slow, many, or hostile.
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "cli/http_client.hpp"
#include "cli/program.hpp"

namespace holdfast::cli_tests {
namespace {

using support::raw_connection;

// It listens while it campaigns and leads.
class HttpServer : public ::testing::Test {
 protected:
  private_server redis_;
  child_process program_{call_at(
      redis_, {"elect", "--listen", "0", "--allow-host", "locks.example", "a", "--", "cat"})};
  std::uint16_t port_ = port_of(program_);

  http_answer get_as(const std::string& host) const {
    return http_send(port_,
                     "GET /healthz HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  }
};

TEST_F(HttpServer, SaysOnEveryAnswerThatNothingMayBeKeptOrFramed) {
  for (const auto* target : {"/healthz", "/leader", "/no-such-thing"}) {
    const auto head = http_get(port_, target).head;
    for (const auto* header :
         {"Cache-Control: no-store", "X-Content-Type-Options: nosniff",
          "Content-Security-Policy: default-src 'none';", "X-Frame-Options: DENY",
          "Referrer-Policy: no-referrer", "Cross-Origin-Resource-Policy: same-origin"}) {
      EXPECT_THAT(head, HasSubstr(header)) << target;
    }
  }
}

TEST_F(HttpServer, AnswersOnlyUnderNamesOfItsOwn) {
  for (const auto* own : {"localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:9870", "[::1]:9870",
                          "locks.example", "locks.example:443", "10.1.2.3"}) {
    EXPECT_EQ(get_as(own).status, 200) << own;
  }
  for (const auto* other : {"evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                            "localhost:80:80", "[::1", "[evil]", "1.2.3.4@evil.example", "."}) {
    EXPECT_EQ(get_as(other).status, 421) << other;
  }
  EXPECT_EQ(http_send(port_, "GET /healthz HTTP/1.0\r\n\r\n").status, 200)
      << "as probes of load balancers ask";
}

TEST_F(HttpServer, RefusesAllButReading) {
  for (const auto* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"}) {
    const auto said = http_send(port_, http_request("/healthz", method));
    EXPECT_EQ(said.status, 405) << method;
    EXPECT_THAT(said.head, HasSubstr("Allow: GET, HEAD"));
    EXPECT_THAT(said.head, HasSubstr("application/problem+json"));
  }
  const auto head = http_send(port_, http_request("/healthz", "HEAD"));
  EXPECT_EQ(head.status, 200);
  EXPECT_THAT(head.head, HasSubstr("Content-Length: 3"));
  EXPECT_THAT(head.body, IsEmpty());
}

TEST_F(HttpServer, TakesNoBody) {
  EXPECT_EQ(
      http_send(port_, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
          .status,
      413)
      << "without waiting for it";
  EXPECT_EQ(
      http_send(port_,
                "GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
          .status,
      413);
}

TEST_F(HttpServer, CutsOffAHeadWithoutAnEnd) {
  raw_connection connection(http_endpoint(port_));
  connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
  const std::string header = "X-Padding: " + std::string(1000, 'x') + "\r\n";
  bool is_cut_off = false;
  for (int i = 0; i < 80'000 && !is_cut_off; ++i) {
    try {
      connection.send(header);
    } catch (const std::runtime_error&) {
      is_cut_off = true;
    }
  }
  EXPECT_TRUE(is_cut_off);
  EXPECT_EQ(http_get(port_, "/healthz").status, 200);
  EXPECT_THAT(http_get(port_, "/" + std::string(60'000, 'a')).status,
              ::testing::AnyOf(0, 414, 431));
}

TEST_F(HttpServer, SurvivesBytesThatAreNoRequest) {
  std::vector<std::unique_ptr<raw_connection>> all;
  for (const std::string& junk :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01", 8), std::string(2000, '\0'),
        std::string("\r\n\r\n\r\n"), std::string("GET\r\n\r\n"),
        std::string("*1\r\n$4\r\nPING\r\n"),
        std::string("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")}) {
    all.push_back(std::make_unique<raw_connection>(http_endpoint(port_)));
    all.back()->send(junk + "\r\n\r\n");
    ::shutdown(all.back()->socket().get(), SHUT_WR);
  }
  for (const auto& connection : all) {
    const auto said = parse_answer(read_to_end(*connection));
    EXPECT_NE(said.status, 200) << said.head << said.body;
  }
  EXPECT_EQ(http_get(port_, "/%zz").status, 400);
  EXPECT_EQ(http_get(port_, "/healthz").status, 200);
}

TEST_F(HttpServer, ACrowdOfSilentClientsKeepsNobodyOut) {
  std::vector<std::unique_ptr<raw_connection>> crowd;
  for (int i = 0; i < 300; ++i) {
    crowd.push_back(std::make_unique<raw_connection>(http_endpoint(port_)));
    if (i % 2 == 0) crowd.back()->send("GET /hea");
  }
  const auto before = net::now();
  EXPECT_EQ(http_get(port_, "/healthz").status, 200);
  EXPECT_LT(net::now() - before, std::chrono::seconds{2}) << "not when their time is over";
  EXPECT_TRUE(crowd.front()->closed_by_peer()) << "the oldest had to give way";
}

TEST_F(HttpServer, EndsAConnectionThatSendsAByteNowAndThen) {
  raw_connection slow(http_endpoint(port_));
  slow.send("GET /healthz HTTP/1.1\r\n");
  bool is_ended = false;
  EXPECT_TRUE(eventually([&] {
    try {
      slow.send("x");
      char byte = 0;
      const auto got = ::recv(slow.socket().get(), &byte, 1, MSG_DONTWAIT);
      is_ended = got == 0 || (got < 0 && errno != EAGAIN);
    } catch (const std::runtime_error&) {
      is_ended = true;
    }
    return is_ended;
  }));
}

TEST_F(HttpServer, AnswersSeveralRequestsOverOneConnection) {
  raw_connection connection(http_endpoint(port_));
  const std::string ask = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  connection.send(ask + ask);
  std::string all;
  while (std::count(all.begin(), all.end(), 'k') < 2 || !all.ends_with("ok\n")) {
    const auto some = connection.read_some();
    ASSERT_FALSE(some.empty()) << all;
    all += some;
  }
  connection.send(http_request("/healthz"));
  EXPECT_EQ(parse_answer(read_to_end(connection)).status, 200);
}

}  // namespace
}  // namespace holdfast::cli_tests
