#include "net/tls_peer.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::net {
namespace {

TEST(TlsPeer, EachIsToldOfItsOwnOptions) {
  EXPECT_EQ(advice_to_set(tls_peer::server, "ca_file", "ca"), "tls.ca_file (--tls-ca)");
  EXPECT_EQ(advice_to_set(tls_peer::sentinel_apart, "ca_file", "ca"),
            "sentinel_tls.ca_file (--sentinel-tls-ca)");
}

TEST(TlsPeer, SentinelsThatAreSecuredAsTheirServersHaveTwoWaysOut) {
  EXPECT_EQ(advice_to_set(tls_peer::sentinel_as_server, "ca_file", "ca"),
            "tls.ca_file (--tls-ca), or for the sentinels alone "
            "sentinel_tls.ca_file (--sentinel-tls-ca)");
  EXPECT_EQ(name_of(tls_peer::sentinel_as_server, "ca_file"), "tls.ca_file");
}

TEST(TlsPeer, ServersAreNotToldOfSentinels) {
  for (const std::string_view advice :
       {advice_to_speak_plain(tls_peer::server), advice_to_speak_tls(tls_peer::server)}) {
    EXPECT_EQ(advice.find("sentinel"), advice.npos);
  }
}

}  // namespace
}  // namespace holdfast::net
