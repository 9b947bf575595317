// Masters under Redis Sentinel are frozen, killed with writes that no replica has, and come back,
// while clients contend for their locks. The history is checked.

#include <future>
#include <optional>

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"
#include "support/pause.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::faults {
namespace {

using history::kind;
using support::sentinel_group;

constexpr milliseconds lease_time{3000};
// The holder of this one holds it for longer than a failover takes, if all goes well.
const named held_for_long{"long", {.lease = 6s}, 4s};
// On a machine as busy as here a living server may be silent for a while.
constexpr milliseconds down_after{1000};
constexpr std::size_t replicas = sentinel_group::members - 1;

// How often two believed at once that they have a lock, with or without excuse.
std::size_t beliefs_of_two(std::vector<history::event> all) {
  std::erase_if(all, [](const history::event& one) { return one.what == kind::emptied; });
  std::vector<history::violation> found;
  history::beliefs_go_together(history::story(std::move(all)), found);
  return found.size();
}

class SentinelUnderLoad : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    group_.emplace(GetParam(), std::nullopt, down_after);
  }

  // Two parties take locks while two masters are lost. Who has other `as` than that every replica
  // must have what counts is not promised exclusion (S1), but everything else.
  void lose_masters(const client_options& as) {
    const auto party = [&] {
      return mutexes(client{group_->url(), as},
                     {{"usual", {.lease = lease_time}},
                      {"fair", {.lease = lease_time, .fair = true}},
                      {"fixed", {.lease = lease_time, .renewal = renewal::none}},
                      held_for_long});
    };
    const client outside{group_->url(), as};
    const bool all_have_it = as.min_replicas == replicas;
    contended_run run(GetParam());
    const auto lose = [&](const std::string& how, auto&& strike, void (private_server::*back)()) {
      const auto begin = time_now();
      lose_the_master(outside, how, strike, back);
      const auto end = time_now();
      run.record({.time = begin, .what = kind::broken, .until = end});
      if (!all_have_it) run.record({.time = begin, .what = kind::emptied, .until = end});
    };
    run.play({party(), party()}, 12s, [&] {
      lose(
          "frozen", [](auto& master) { master.freeze(); }, &private_server::thaw);
      lose(
          "killed",
          [&](auto& master) {
            group_->cut_replication();
            await_next_holder(master, held_for_long);  // of whom the others know nothing
            master.kill9();
          },
          &private_server::restart);
      run.record({.what = kind::healed});
    });
    expect_kept(run);
  }

 private:
  // Not so long that the sentinels mend the replication. On a slow machine all may have ended.
  static void await_next_holder(const private_server& master, const named& of) {
    const auto holder = [&] { return master.command({"GET", value_key(of.name)}).text; };
    const auto before = holder();
    static_cast<void>(
        eventually([&] { return holder() != before && !holder().empty(); }, of.least_hold + 1s));
  }

  // It comes back as the master that it was, beside the new one.
  template <typename Strike>
  void lose_the_master(const client& outside, const std::string& how, const Strike& strike,
                       void (private_server::*back)()) {
    const auto old = group_->master();
    strike(group_->server(old));
    auto next = std::async(std::launch::async, [&, struck = time_now()] {
      const auto granted = [&] { return outside.mutex("next").try_acquire({.timeout = 1s}); };
      EXPECT_TRUE(eventually(granted, 3 * support::generous));
      return std::chrono::round<milliseconds>(time_now() - struck);
    });
    EXPECT_TRUE(eventually([&] { return group_->has_moved_from(old); }));
    (group_->server(old).*back)();
    support::pause(700ms);
    group_->demote(old);
    RecordProperty("next_grant_ms_" + how, std::to_string(next.get().count()));
    group_->await_sentinels();
    EXPECT_TRUE(eventually([&] {
      const auto said = group_->server(group_->master()).command({"WAIT", "2", "100"});
      return said.number == std::int64_t(replicas);
    }));
  }

  static void expect_kept(const contended_run& run) {
    EXPECT_EQ(run.violations(), "");
    EXPECT_GT(run.count(kind::written), 0U);
    RecordProperty("won", std::to_string(run.count(kind::won)));
    RecordProperty("lost", std::to_string(run.count(kind::lost)));
    RecordProperty("refused", std::to_string(run.count(kind::refused)));
    RecordProperty("two_believed", std::to_string(beliefs_of_two(run.events())));
  }

  std::optional<sentinel_group> group_;
};
HOLDFAST_ON_EACH_SERVER(SentinelUnderLoad);

TEST_P(SentinelUnderLoad, TokensGrowAndLossesAreToldWhenMastersAreLost) {
  lose_masters({.response_timeout = patience});
}

TEST_P(SentinelUnderLoad, NothingIsBrokenWhenReplicasHaveAllThatCounts) {
  lose_masters({.response_timeout = patience, .min_replicas = replicas});
}

}  // namespace
}  // namespace holdfast::faults
