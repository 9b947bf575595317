#include "support/fake_server.hpp"

#include <gtest/gtest.h>

#include "support/eventually.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::support {
namespace {

raw_connection connect(const fake_server& server) {
  return raw_connection(net::tcp_endpoint{"127.0.0.1", server.port()});
}

std::string everything(raw_connection& client) {
  std::string received;
  while (!client.closed_by_peer()) received += client.read_some();
  return received;
}

TEST(FakeServer, LetsAClientLogIn) {
  const fake_server server;
  auto client = connect(server);
  const auto hello = client.command({"HELLO", "3"});
  EXPECT_EQ(hello.kind, resp::type::map);
  EXPECT_EQ(hello.items.at(5).number, 3);
  EXPECT_EQ(client.command({"HELLO", "2"}).items.at(5).number, 2);
  EXPECT_EQ(client.command({"SELECT", "1"}).text, "OK");
  EXPECT_EQ(client.command({"CLIENT", "SETNAME", "x"}).text, "OK");
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  EXPECT_GT(std::stoll(client.command({"TIME"}).items.at(0).text), 1'700'000'000);
  EXPECT_EQ(client.command({"GET", "a"}).text, "ERR unknown command 'GET'");
}

TEST(FakeServer, RecordsWhatItReceives) {
  const fake_server server;
  auto client = connect(server);
  client.command({"PING", std::string("a\0b", 3)});
  client.command({"PING"});
  connect(server).command({"TIME"});
  ASSERT_EQ(server.received().size(), 3U);
  EXPECT_EQ(server.received().at(0), (fake_server::command{"PING", std::string("a\0b", 3)}));
  EXPECT_EQ(server.received("PING"), 2U);
  EXPECT_EQ(server.connections(), 2U);
  EXPECT_TRUE(eventually([&] { return server.open_connections() == 1; }));
}

TEST(FakeServer, AnswersByItsScript) {
  fake_server server([](const auto& words) -> std::optional<fake_server::reply> {
    if (words[0] == "EVALSHA") return fake_server::error("OOM command not allowed");
    if (words[0] == "GET") return fake_server::answer("$1\r\nb\r\n");
    return std::nullopt;
  });
  auto client = connect(server);
  EXPECT_EQ(client.command({"EVALSHA", "x", "0"}).text, "OOM command not allowed");
  EXPECT_EQ(client.command({"GET", "a"}).text, "b");
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  server.on({});
  EXPECT_EQ(client.command({"GET", "a"}).kind, resp::type::error);
}

TEST(FakeServer, AnswersPipelinedCommandsInOrder) {
  const fake_server server;
  auto client = connect(server);
  client.send("*1\r\n$4\r\nPING\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*1\r\n$4\r\nPI");
  EXPECT_EQ(client.read_value().text, "PONG");
  EXPECT_EQ(client.read_value().text, "OK");
  client.send("NG\r\n");
  EXPECT_EQ(client.read_value().text, "PONG");
}

TEST(FakeServer, HangsUp) {
  fake_server server;
  for (const auto how : {fake_server::then::close, fake_server::then::reset}) {
    server.on([how](const auto&) { return fake_server::reply{"+last words\r\n", how}; });
    auto client = connect(server);
    client.send("*1\r\n$4\r\nPING\r\n");
    EXPECT_EQ(everything(client), "+last words\r\n");
  }
  server.on([](const auto&) { return fake_server::hang_up(); });
  auto client = connect(server);
  client.send("*1\r\n$4\r\nPING\r\n");
  EXPECT_EQ(everything(client), "");
}

TEST(FakeServer, GreetsBeforeItIsAsked) {
  fake_server server;
  server.greet({"-ERR max number of clients reached\r\n", fake_server::then::close});
  auto client = connect(server);
  EXPECT_EQ(everything(client), "-ERR max number of clients reached\r\n");
  EXPECT_EQ(server.open_connections(), 0U);
}

TEST(FakeServer, PushesToEverybody) {
  fake_server server;
  auto first = connect(server);
  auto second = connect(server);
  ASSERT_TRUE(eventually([&] { return server.open_connections() == 2; }));
  server.push(">1\r\n+news\r\n");
  EXPECT_EQ(first.read_value().items.at(0).text, "news");
  EXPECT_EQ(second.read_value().items.at(0).text, "news");
}

TEST(FakeServer, CanBeSilent) {
  fake_server server([](const auto&) { return fake_server::silence(); });
  auto client = connect(server);
  client.send("*1\r\n$4\r\nPING\r\n");
  EXPECT_TRUE(eventually([&] { return server.received().size() == 1; }));
  server.push("+late\r\n");
  EXPECT_EQ(client.read_value().text, "late");
}

TEST(FakeServer, FloodsForEver) {
  const fake_server server([](const auto&) { return fake_server::flood("+again\r\n", "+OK\r\n"); });
  auto client = connect(server);
  EXPECT_EQ(client.command({"PING"}).text, "OK");
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(client.read_value().text, "again");
}

TEST(FakeServer, Dribbles) {
  fake_server server;
  server.dribble();
  auto client = connect(server);
  EXPECT_EQ(client.command({"PING"}).text, "PONG");
  EXPECT_EQ(client.command({"HELLO", "3"}).items.size(), 6U);
}

}  // namespace
}  // namespace holdfast::support
