// Server tests run against every server that Holdfast supports:
//
//   class MutexOnServer : public support::server_test {};
//   HOLDFAST_ON_EACH_SERVER(MutexOnServer);
//   TEST_P(MutexOnServer, IsExclusive) { auto server = start(); ... }
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/private_server.hpp"

namespace holdfast::support {

// The supported servers: redis-server and valkey-server.
const std::vector<std::string>& supported_servers();

// Those of them that are installed and that HOLDFAST_TEST_SERVERS, when set, does not leave out
// ("redis-server,valkey-server"; what it names must be installed, or the tests fail). A server of
// another version is tested by putting its folder first: PATH=/opt/redis-6.2/bin:$PATH
std::vector<std::string> server_programs();

// The parameter is the server's program. Skips visibly what is not installed.
class server_test : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  private_server start(server_settings settings = {}) const {
    settings.program = GetParam();
    return private_server(settings);
  }
};

std::string server_test_name(const ::testing::TestParamInfo<std::string>& info);

}  // namespace holdfast::support

#define HOLDFAST_ON_EACH_SERVER(fixture)                                                  \
  INSTANTIATE_TEST_SUITE_P(On, fixture,                                                   \
                           ::testing::ValuesIn(::holdfast::support::supported_servers()), \
                           ::holdfast::support::server_test_name)
