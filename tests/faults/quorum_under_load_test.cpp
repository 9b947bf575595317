// A quorum's members are killed, frozen, restarted empty or with their data, and given other
// clocks, while clients contend for its locks. The history is checked.

#include <algorithm>
#include <deque>
#include <optional>
#include <vector>

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"
#include "support/clock_shim.hpp"
#include "support/pause.hpp"

namespace holdfast::faults {
namespace {

constexpr std::size_t members = 5;
constexpr milliseconds lease_time{1000};
constexpr milliseconds longest_lease_time{1500};

using group = std::vector<std::size_t>;
const group few{0, 1}, others{2, 3}, most{0, 1, 2};

class QuorumUnderLoad : public fault_test {
 protected:
  void make(const std::vector<std::string>& arguments = {}) {
    for (std::size_t i = 0; i < members; ++i) {
      clocks_.emplace_back();
      servers_.push_back(
          start({.arguments = arguments, .environment = clocks_.back().environment()}));
    }
  }
  void each(const group& which, void (private_server::*what)()) {
    for (const auto i : which) (servers_[i].*what)();
  }
  void set_clocks(const group& which, nanoseconds ahead) {
    for (const auto i : which) clocks_[i].set(ahead);
  }
  bool remembers(std::size_t i) const {
    return !servers_[i].command({"KEYS", "hf:q:fence:*"}).items.empty();
  }

  // Two parties take locks while `meanwhile` is done, which takes about `length`.
  void play(milliseconds length, const std::function<void(contended_run&)>& meanwhile) {
    const auto party = [&] {
      std::vector<client> all;
      for (const auto& one : servers_) {
        all.emplace_back(one.url(),
                         client_options{.connect_timeout = patience, .response_timeout = patience});
      }
      return mutexes(quorum{std::move(all), {.longest_lease = longest_lease_time}},
                     {{"usual", {.lease = lease_time}},
                      {"fixed", {.lease = lease_time, .renewal = renewal::none}}});
    };
    contended_run run(GetParam());
    run.play({party(), party()}, length, [&] { meanwhile(run); });
    EXPECT_EQ(run.violations(), "");
    EXPECT_GT(run.count(history::kind::written), 0U);
    tell_next_grants(run);
    RecordProperty("won", std::to_string(run.count(history::kind::won)));
    RecordProperty("lost", std::to_string(run.count(history::kind::lost)));
    RecordProperty("refused", std::to_string(run.count(history::kind::refused)));
  }
  // A majority comes back, and nobody has been served since it went.
  void bring_back(const group& which, void (private_server::*how)()) {
    back_at_.push_back(time_now());
    each(which, how);
  }

  // Exclusion is not promised for so long.
  static void say_forgotten(contended_run& run, milliseconds length) {
    const auto now = time_now();
    run.record({.time = now, .what = history::kind::emptied, .until = now + length});
  }
  // Nobody can be served for so long.
  static void say_broken(contended_run& run, milliseconds length) {
    const auto now = time_now();
    run.record({.time = now, .what = history::kind::broken, .until = now + length});
  }

 private:
  // How soon locks work again: from when the first of a majority that was away was told to come
  // back, in the worst case.
  void tell_next_grants(const contended_run& run) const {
    if (back_at_.empty()) return;
    milliseconds longest{0};
    for (const auto back : back_at_) {
      auto next = std::optional<milliseconds>{};
      for (const auto& what : run.events()) {
        if (what.what != history::kind::won || what.time < back) continue;
        const auto took = std::chrono::round<milliseconds>(what.time - back);
        next = std::min(next.value_or(took), took);
      }
      ASSERT_TRUE(next) << "locks do not work again";
      longest = std::max(longest, *next);
    }
    RecordProperty("next_grant_after_return_ms", std::to_string(longest.count()));
  }

  std::vector<nanoseconds> back_at_;
  std::deque<support::clock_shim> clocks_;
  std::vector<private_server> servers_;
};
HOLDFAST_ON_EACH_SERVER(QuorumUnderLoad);

TEST_P(QuorumUnderLoad, AMinorityIsKilledAndComesBackWithNothing) {
  make();
  play(7s, [&](contended_run&) {
    for (const auto& which : {few, others}) {
      each(which, &private_server::kill9);
      support::pause(1000ms);
      each(which, &private_server::restart);
      support::pause(longest_lease_time + 1000ms);  // they stay out for so long
    }
  });
  for (std::size_t i = 0; i + 1 < members; ++i) EXPECT_TRUE(remembers(i)) << "it votes again";
}

TEST_P(QuorumUnderLoad, AMinorityIsKilledAndComesBackWithWhatItHad) {
  make({"--appendonly", "yes", "--appendfsync", "always"});
  play(5s, [&](contended_run&) {
    for (const auto& which : {few, others}) {
      each(which, &private_server::kill9);
      support::pause(1000ms);
      each(which, &private_server::restart);
      for (const auto i : which) EXPECT_TRUE(remembers(i));
      support::pause(1500ms);
    }
  });
}

TEST_P(QuorumUnderLoad, AMinorityIsFrozen) {
  make();
  play(6s, [&](contended_run&) {
    for (const auto& which : {few, others}) {
      each(which, &private_server::freeze);
      support::pause(2000ms);
      each(which, &private_server::thaw);
      support::pause(1000ms);
    }
  });
}

TEST_P(QuorumUnderLoad, AMajorityIsFrozenForLongerThanALease) {
  make();
  play(4s, [&](contended_run& run) {
    say_broken(run, 3000ms);
    each(most, &private_server::freeze);
    support::pause(2500ms);
    bring_back(most, &private_server::thaw);
    support::pause(1500ms);
  });
}

TEST_P(QuorumUnderLoad, AMajorityIsKilledAndComesBackWithWhatItHad) {
  make({"--appendonly", "yes", "--appendfsync", "always"});
  play(5s, [&](contended_run& run) {
    for (int round = 0; round < 2; ++round) {
      say_broken(run, 1500ms);
      each(most, &private_server::kill9);
      support::pause(300ms);
      bring_back(most, &private_server::restart);
      for (const auto i : most) EXPECT_TRUE(remembers(i));
      support::pause(2000ms);
    }
  });
}

TEST_P(QuorumUnderLoad, AMajorityIsKilledAndComesBackWithNothingAfterTheLongestLease) {
  make();
  play(5s, [&](contended_run& run) {
    say_broken(run, longest_lease_time + 1000ms);
    each(most, &private_server::kill9);
    support::pause(longest_lease_time + 200ms);
    bring_back(most, &private_server::restart);
    support::pause(3000ms);
  });
}

// More than may forget within one longest lease: they look like a new quorum, so exclusion is not
// promised until the locks of before have ended. Tokens are.
TEST_P(QuorumUnderLoad, AMajorityIsKilledAndComesBackWithNothingAtOnce) {
  make();
  play(5s, [&](contended_run& run) {
    say_forgotten(run, longest_lease_time);
    each(most, &private_server::kill9);
    bring_back(most, &private_server::restart);
    support::pause(longest_lease_time + 3000ms);
  });
  for (const auto i : most) EXPECT_TRUE(remembers(i)) << "it votes again";
}

TEST_P(QuorumUnderLoad, TheClocksOfAMinorityStepBack) {
  make();
  play(5s, [&](contended_run&) {
    for (const auto step : {-60s, -3600s}) {
      set_clocks(few, step);
      support::pause(2500ms);
    }
  });
}

// Their votes end at once, so exclusion is not promised, as when they forget them. Tokens are.
TEST_P(QuorumUnderLoad, TheClocksOfAMinorityStepForward) {
  make();
  play(5s, [&](contended_run& run) {
    for (const auto step : {60s, 3600s}) {
      say_forgotten(run, 200ms);
      set_clocks(few, step);
      support::pause(2500ms);
    }
  });
}

// Then the votes of a majority last longer than anybody wanted: nobody can be served if their owner
// does not take them back.
TEST_P(QuorumUnderLoad, TheClocksOfAMajorityStepBack) {
  make();
  play(3s, [&](contended_run&) {
    set_clocks(most, -3600s);
    support::pause(3000ms);
  });
}

TEST_P(QuorumUnderLoad, TheClocksOfAMajorityStepForward) {
  make();
  play(3s, [&](contended_run& run) {
    say_forgotten(run, 200ms);
    set_clocks(most, 3600s);
    support::pause(3000ms);
  });
}

}  // namespace
}  // namespace holdfast::faults
