// Shared by the tests of divided networks.
#pragma once

#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "faults/runs/divided_run.hpp"
#include "net/clock.hpp"
#include "support/private_network.hpp"

namespace holdfast::faults {

// What `locks` gives on each of these hosts.
template <typename Locks>
std::vector<std::vector<contended>> parties_at(const support::private_network& network,
                                               const std::vector<std::size_t>& hosts,
                                               const Locks& locks) {
  std::vector<std::vector<contended>> all;
  for (const auto host : hosts) all.push_back(network.at(host, locks));
  return all;
}

// These hosts do not reach the others.
inline division apart(const support::private_network& network, std::vector<std::size_t> hosts) {
  return {[&network, hosts = std::move(hosts)] { network.divide(hosts); },
          [&network] { network.heal(); }};
}

// A lock whose holder is cut off goes to a client on the other side.
inline void expect_taken_over(const lock& elsewhere, const lease& from, milliseconds timeout) {
  const auto divided = net::now();
  const auto next = elsewhere.try_acquire({.timeout = timeout});
  ASSERT_TRUE(next) << why_not(next);
  const auto took = std::chrono::round<milliseconds>(net::now() - divided);
  ::testing::Test::RecordProperty("next_holder_after_ms", std::to_string(took.count()));
  EXPECT_GT(next->token(), from.token());
}

// Another client has got a lock from which its holder was cut off: the lease is over by the
// holder's own clock, and the holder is told.
inline void expect_lost(const lease& held) {
  EXPECT_FALSE(held.held()) << "before anybody else has it";
  EXPECT_TRUE(eventually([lost = held.lost()] { return lost.stop_requested(); }));
}

// The first party went on, as often as that at least, and the second had nothing any more so long
// after the network was divided.
inline void expect_one_side_went_on(const divided_run& run, milliseconds until) {
  EXPECT_EQ(run.violations(), "");
  EXPECT_GT(run.won(0, 0ms), 0U);
  ::testing::Test::RecordProperty("won_while_divided", std::to_string(run.won(0, 0ms)));
  EXPECT_EQ(run.won(1, until), 0U);
}

}  // namespace holdfast::faults
