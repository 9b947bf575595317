// Modes are changed while others want the lock and answers do not come. An observer sees what all
// believe, and whoever believes at once must go together by the table of the modes.

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"
#include "faults/runs/ways.hpp"
#include "support/fault_proxy.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {
namespace {

using history::kind;
using support::toward;

constexpr milliseconds disturbed{2500};

class ModesUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(ModesUnderLoad);

std::vector<contended> changed_locks(const std::string& url) {
  const client redis{url, {.connect_timeout = patience, .response_timeout = patience}};
  const clients both{redis, redis};
  std::vector<contended> all;
  for (const auto& one : {contested{"roles", {.lease = milliseconds(600)}, by_roles},
                          contested{"modes", {.lease = milliseconds(600)}, by_modes}}) {
    all.push_back({one.name, one.options, one.ways(both, one)});
  }
  return all;
}

// Now and then nothing comes back: sometimes for longer than a call waits, or a lease lasts.
void silence_answers(support::fault_proxy& network, contended_run& run) {
  const auto end = time_now() + disturbed;
  for (int i = 0; time_now() < end; ++i) {
    const auto begin = time_now();
    network.stall(i % 3 == 0 ? toward::server : toward::client);
    support::pause(milliseconds(i % 4 == 3 ? 700 : 60));
    network.heal();
    run.record({.time = begin, .what = kind::broken, .until = time_now()});
    support::pause(milliseconds(150));
  }
}

TEST_P(ModesUnderLoad, WhatAllBelieveGoesTogetherWhileAnswersDoNotCome) {
  const auto server = start();
  support::fault_proxy network{net::unix_endpoint{server.socket()}};
  contended_run run(GetParam());
  run.play({changed_locks(network.url()), changed_locks(server.url())}, disturbed,
           [&] { silence_answers(network, run); });
  EXPECT_EQ(run.violations(), "");
  EXPECT_GT(run.count(kind::changed), 0U);
  EXPECT_GT(run.count(kind::unchanged), 0U);
  EXPECT_GT(run.count(kind::believed), 0U);
  RecordProperty("changed", std::to_string(run.count(kind::changed)));
  RecordProperty("unchanged", std::to_string(run.count(kind::unchanged)));
}

}  // namespace
}  // namespace holdfast::faults
