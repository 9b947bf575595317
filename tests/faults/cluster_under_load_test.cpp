// What happens to a cluster while clients contend for its locks; the history is checked. Slots are
// moved to and fro, and no holder may lose its lock: renewals go on in the middle of a move.
// Masters are frozen and killed, and come back as replicas of those that have taken their slots.

#include "base/lock_key.hpp"
#include "faults/undisturbed.hpp"
#include "support/cluster_servers.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {
namespace {

class ClusterUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(ClusterUnderLoad);

// So long each half of it lasts: the keys are at the old master first, and then at the new one.
void move(const support::cluster_servers& servers, std::uint16_t slot, milliseconds half) {
  const auto from = servers.master_of(slot), to = 1 - from;
  servers.begin_to_move(slot, from, to);
  support::pause(half);
  servers.move_keys(slot, from, to);
  support::pause(half);
  servers.end_to_move(slot, from, to);
}

TEST_P(ClusterUnderLoad, SlotsAreMovedToAndFro) {
  const support::cluster_servers servers{{.program = GetParam(), .masters = 2}};
  const auto connect = [&] { return client{servers.url()}; };
  expect_undisturbed(GetParam(), connect, 9s, [&] {
    for (const auto half : {0ms, 20ms, 150ms, 300ms}) {
      for (int i = 0; i < 2; ++i) {
        for (const auto* const name : {"usual", "fair", "held"}) {
          move(servers, lock_key{name}.slot(), half);
          support::pause(100ms);  // for work at the new master
        }
      }
    }
  });
}

// The masters of a slot, one after the other. What no replica had heard of is forgotten, if there
// is such that counts.
class passing_masters {
 public:
  passing_masters(support::cluster_servers& servers, contended_run& run, std::uint16_t slot,
                  bool forgets)
      : servers_(servers), run_(run), slot_(slot), forgets_(forgets) {}

  void lose(std::size_t master, std::size_t next, void (private_server::*how)(),
            void (private_server::*back)()) {
    const auto begin = time_now();
    (servers_.node(master).*how)();
    EXPECT_TRUE(eventually([&] { return servers_.master_of(slot_, witness) == next; },
                           3 * support::generous));
    (servers_.node(master).*back)();
    EXPECT_TRUE(eventually([&] { return follows(master); }, 3 * support::generous));
    const auto end = time_now();
    run_.record({.time = begin, .what = history::kind::broken, .until = end});
    if (forgets_) run_.record({.time = begin, .what = history::kind::emptied, .until = end});
  }

 private:
  static constexpr std::size_t witness = 1;  // a master that stays

  bool follows(std::size_t node) const {
    const auto said = servers_.node(node).command({"INFO", "replication"}).text;
    return said.find("role:slave") != said.npos && said.find("master_link_status:up") != said.npos;
  }

  support::cluster_servers& servers_;
  contended_run& run_;
  const std::uint16_t slot_;
  const bool forgets_;
};

class LostMasters : public fault_test {
 protected:
  // Two parties take locks of a master that is lost, and so is the replica that took its slots. Who
  // has other `as` than that the replica must have what counts is not promised exclusion, but
  // everything else.
  void lose_masters(const client_options& as) const;
};
HOLDFAST_ON_EACH_SERVER(LostMasters);

void LostMasters::lose_masters(const client_options& as) const {
  support::cluster_servers servers{
      {.program = GetParam(), .masters = 3, .replicas = 1, .node_timeout = 2s}};
  constexpr milliseconds lease_time{2000};  // a release may take as long
  const auto usual = servers.name_at(0, "usual");
  const auto party = [&] {
    return mutexes(
        client{servers.url(), as},
        {{usual, {.lease = lease_time}},
         {servers.name_at(0, "fair"), {.lease = lease_time, .fair = true}},
         {servers.name_at(0, "fixed"), {.lease = lease_time, .renewal = renewal::none}}});
  };
  contended_run run(GetParam());
  const bool forgets = as.min_replicas == 0;
  passing_masters of_the_locks(servers, run, lock_key{usual}.slot(), forgets);
  run.play({party(), party()}, 10s, [&] {
    of_the_locks.lose(0, 3, &private_server::freeze, &private_server::thaw);
    support::pause(2s);  // until all nodes have told each other who follows whom
    of_the_locks.lose(3, 0, &private_server::kill9, &private_server::restart);
    run.record({.what = history::kind::healed});
  });
  EXPECT_EQ(run.violations(), "");
  EXPECT_GT(run.count(history::kind::written), 0U);
  RecordProperty("won", std::to_string(run.count(history::kind::won)));
  RecordProperty("lost", std::to_string(run.count(history::kind::lost)));
  RecordProperty("refused", std::to_string(run.count(history::kind::refused)));
}

TEST_P(LostMasters, OfAClusterLetTokensGrowAndTellLosses) {
  lose_masters({.connect_timeout = patience, .response_timeout = patience});
}

TEST_P(LostMasters, OfAClusterBreakNothingWhenTheirReplicasHaveAllThatCounts) {
  lose_masters({.connect_timeout = patience, .response_timeout = patience, .min_replicas = 1});
}

}  // namespace
}  // namespace holdfast::faults
