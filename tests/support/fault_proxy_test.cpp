#include "support/fault_proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <stdexcept>

#include "support/eventually.hpp"
#include "support/fake_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::support {
namespace {

using namespace std::chrono_literals;

// Behind the proxy stands a server that answers PING with +PONG.
class FaultProxy : public ::testing::Test {
 protected:
  raw_connection connect(milliseconds patience = generous) const {
    return raw_connection(net::tcp_endpoint{"127.0.0.1", proxy_.port()}, patience);
  }

  fake_server server_;
  fault_proxy proxy_{net::tcp_endpoint{"127.0.0.1", server_.port()}};
};

constexpr const char* ping = "*1\r\n$4\r\nPING\r\n";
constexpr std::size_t ping_size = 14;
constexpr std::size_t pong_size = 7;

TEST_F(FaultProxy, ForwardsAndCounts) {
  auto first = connect();
  EXPECT_EQ(first.command({"PING"}).text, "PONG");
  auto second = connect();
  EXPECT_EQ(second.command({"PING"}).text, "PONG");
  EXPECT_EQ(proxy_.connections(), 2U);
  EXPECT_EQ(proxy_.open_connections(), 2U);
  EXPECT_EQ(proxy_.forwarded(toward::server), 2 * ping_size);
  EXPECT_EQ(proxy_.forwarded(toward::client), 2 * pong_size);
}

TEST_F(FaultProxy, ForwardsMoreThanItsBuffersHold) {
  auto client = connect();
  const std::string big(3'000'000, 'x');
  EXPECT_EQ(client.command({"PING", big}).text, "PONG");
  EXPECT_EQ(server_.received().at(0).at(1), big);
}

TEST_F(FaultProxy, ForwardsTheEndOfAConnection) {
  {
    auto client = connect();
    EXPECT_EQ(client.command({"PING"}).text, "PONG");
  }
  EXPECT_TRUE(eventually([&] { return server_.open_connections() == 0; }));
  EXPECT_TRUE(eventually([&] { return proxy_.open_connections() == 0; }));
}

TEST_F(FaultProxy, CutsTheRequestBehindEveryByte) {
  for (const auto how : {cut::close, cut::reset}) {
    for (std::size_t bytes = 0; bytes <= ping_size; ++bytes) {
      auto client = connect();
      const auto before = proxy_.forwarded(toward::server);
      const auto cuts = proxy_.cuts();
      proxy_.cut_after(toward::server, bytes, how);
      client.send(ping);
      ASSERT_TRUE(eventually([&] { return proxy_.cuts() == cuts + 1; })) << bytes;
      EXPECT_EQ(proxy_.forwarded(toward::server) - before, bytes);
      while (!client.closed_by_peer()) client.read_some();
      EXPECT_EQ(connect().command({"PING"}).text, "PONG") << "only one connection is cut";
    }
  }
}

TEST_F(FaultProxy, CutsTheReplyBehindEveryByte) {
  for (std::size_t bytes = 0; bytes <= pong_size; ++bytes) {
    auto client = connect();
    proxy_.cut_after(toward::client, bytes);
    client.send(ping);
    std::string received;
    while (!client.closed_by_peer()) received += client.read_some();
    EXPECT_EQ(received, std::string("+PONG\r\n").substr(0, bytes));
  }
}

TEST_F(FaultProxy, StallsOneDirectionUntilItHeals) {
  auto client = connect();
  proxy_.stall(toward::client);
  client.send(ping);
  ASSERT_TRUE(eventually([&] { return proxy_.received(toward::client) == pong_size; }));
  EXPECT_EQ(proxy_.forwarded(toward::client), 0U);
  EXPECT_EQ(server_.received().size(), 1U);
  proxy_.heal();
  EXPECT_EQ(client.read_value().text, "PONG");
}

TEST_F(FaultProxy, StallsAnEndToo) {
  auto client = connect();
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  proxy_.stall(toward::server);
  ::shutdown(client.socket().get(), SHUT_WR);
  EXPECT_EQ(server_.open_connections(), 1U);
  proxy_.heal();
  EXPECT_TRUE(eventually([&] { return server_.open_connections() == 0; }));
}

TEST_F(FaultProxy, SwallowsWhatComesMeanwhile) {
  auto client = connect();
  proxy_.swallow(toward::server);
  client.send(ping);
  ASSERT_TRUE(eventually([&] { return proxy_.received(toward::server) == ping_size; }));
  proxy_.heal();
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  EXPECT_EQ(server_.received().size(), 1U);
}

TEST_F(FaultProxy, Delays) {
  auto client = connect();
  proxy_.delay(toward::client, 30ms);
  const auto start = net::now();
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  EXPECT_GE(net::now() - start, 30ms);
}

TEST_F(FaultProxy, ClosesOneDirectionOnly) {
  server_.on([](const auto&) { return fake_server::silence(); });
  auto client = connect();
  client.send(ping);
  ASSERT_TRUE(eventually([&] { return server_.received().size() == 1; }));
  proxy_.half_close(toward::client);
  EXPECT_TRUE(client.closed_by_peer());
  client.send(ping);
  EXPECT_TRUE(eventually([&] { return server_.received().size() == 2; }));
}

TEST_F(FaultProxy, DisconnectsAndRefuses) {
  for (const auto how : {cut::close, cut::reset}) {
    auto client = connect();
    EXPECT_EQ(client.command({"PING"}).text, "PONG");
    proxy_.refuse_connections();
    proxy_.disconnect(how);
    EXPECT_TRUE(client.closed_by_peer());
    EXPECT_THROW(connect(), std::runtime_error);
    proxy_.accept_connections();
    EXPECT_EQ(connect().command({"PING"}).text, "PONG");
  }
}

TEST(FaultProxyWithoutServer, ResetsItsClients) {
  fault_proxy proxy(net::unix_endpoint{"/no/such/socket"});
  try {
    raw_connection client(net::tcp_endpoint{"127.0.0.1", proxy.port()});
    EXPECT_TRUE(client.closed_by_peer());
  } catch (const std::runtime_error& early) {  // it came before the end of connecting was noticed
    EXPECT_THAT(early.what(), ::testing::HasSubstr("reset"));
  }
}

}  // namespace
}  // namespace holdfast::support
