#include "support/private_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "support/each_server.hpp"
#include "support/forked.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::support {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PrivateServer : public server_test {};
HOLDFAST_ON_EACH_SERVER(PrivateServer);

TEST_P(PrivateServer, AnswersCommands) {
  const auto server = start();
  EXPECT_EQ(server.command({"SET", "a", "b"}).text, "OK");
  EXPECT_EQ(server.command({"GET", "a"}).text, "b");
  EXPECT_EQ(server.command({"NONSENSE"}).kind, resp::type::error);
  EXPECT_THAT(server.url(), StartsWith("unix:///"));
  EXPECT_THAT(server.log(), HasSubstr("eady to accept connections"));
}

TEST_P(PrivateServer, ListensOnAPortWhenAsked) {
  const auto server = start({.tcp = true});
  raw_connection connection(net::tcp_endpoint{"127.0.0.1", server.port()});
  EXPECT_EQ(connection.command({"PING"}).text, "PONG");
  EXPECT_EQ(server.tcp_url(), "redis://127.0.0.1:" + std::to_string(server.port()));
}

TEST_P(PrivateServer, TakesArguments) {
  const auto server = start({.arguments = {"--maxmemory", "3mb"}});
  EXPECT_EQ(server.command({"CONFIG", "GET", "maxmemory"}).items.at(1).text, "3145728");
}

TEST_P(PrivateServer, RestartsEmptyAtTheSameAddresses) {
  auto server = start({.tcp = true});
  const auto port = server.port();
  const auto socket = server.socket();
  server.command({"SET", "a", "b"});
  server.restart();
  EXPECT_EQ(server.command({"GET", "a"}).kind, resp::type::null);
  EXPECT_EQ(server.port(), port);
  EXPECT_EQ(server.socket(), socket);
}

TEST_P(PrivateServer, CanBeKilledAndRestarted) {
  auto server = start();
  const auto pid = server.pid();
  server.kill9();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_THROW(server.command({"PING"}), std::runtime_error);
  server.restart();
  EXPECT_EQ(server.command({"PING"}).text, "PONG");
}

TEST_P(PrivateServer, IsSilentWhileFrozen) {
  auto server = start();
  server.freeze();
  raw_connection connection(net::unix_endpoint{server.socket()}, milliseconds(50));
  EXPECT_THROW(connection.command({"PING"}), std::runtime_error);
  server.thaw();
  EXPECT_EQ(server.command({"PING"}).text, "PONG");
}

TEST_P(PrivateServer, EndsWithItsObject) {
  auto server = std::make_unique<private_server>(start());
  const auto pid = server->pid();
  server.reset();
  EXPECT_TRUE(is_gone(pid));
}

TEST_P(PrivateServer, TellsWhatTheServerSaidWhenItDoesNotStart) {
  try {
    start({.arguments = {"--no-such-option", "1"}});
    FAIL() << "it started";
  } catch (const std::exception& error) {
    EXPECT_THAT(error.what(), HasSubstr("no-such-option"));
  }
}

}  // namespace
}  // namespace holdfast::support
