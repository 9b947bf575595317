// One job in the timetables of three hosts whose clocks are 30 s apart, 1,000 slots long. Holders
// are killed. What counts is what the jobs did, and the server's clock says in which slot.
#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "support/clock_shim.hpp"
#include "support/fault_proxy.hpp"
#include "support/forked.hpp"

namespace holdfast::faults {
namespace {

using support::forked;

constexpr auto slot = 60s;

class OncePer : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start({.environment = clock_.environment()}));
    // The middle of a slot: what the real clock adds while the test runs does not matter.
    const seconds now{std::stoll(server_->command({"TIME"}).items.at(0).text)};
    offset_ = (now - 7s) % slot;
    first_ = (now - offset_) / slot;
    hosts_ = {client{server_->url(), patient()}, client{server_->url(), patient()},
              client{server_->url(), patient()}};
  }

  const private_server& server() const { return *server_; }
  const client& host(int which) const { return hosts_.at(static_cast<std::size_t>(which)); }

  once_per job(const client& host, run_again again) const {
    return host.once_per("mails",
                         {.interval = slot, .offset = offset_, .run_again = again, .lease = 10s});
  }

  // What the job does: it counts up where its slot stands, by the server's clock.
  void work(const client& by) const {
    const std::string counts =
        "local now = redis.call('TIME')[1] - ARGV[1] "
        "return redis.call('HINCRBY', KEYS[1], math.floor(now / ARGV[2]), 1)";
    (void)by.fenced_eval(counts, {"done"},
                         {std::to_string(offset_.count()), std::to_string(slot.count())},
                         fencing_token{1});
  }
  int times_done(int which) const {
    const auto said = server().command({"HGET", "done", std::to_string(first_ + which)}).text;
    return said.empty() ? 0 : std::stoi(said);
  }
  std::int64_t done_in_all() const {
    const std::string sum =
        "local all = 0 for _, n in ipairs(redis.call('HVALS', 'done')) do "
        "all = all + n end return all";
    return server().command({"EVAL", sum, "1", "done"}).number;
  }

  // The hosts' clocks are 30 s apart, and each asks at its full minute. So in each slot the middle
  // one asks first, and half a slot later both others at a time.
  template <typename Ask>
  void each_asks_in_each_slot(int slots, Ask&& ask) {
    for (int i = 0; i < slots; ++i) {
      SCOPED_TRACE(i);
      clock_.set(i * slot, server());
      ask(i, 1);
      clock_.set(i * slot + 30s, server());
      const std::jthread early([&] { ask(i, 0); });
      ask(i, 2);
    }
  }

  // A host in a process of its own begins the run, and is killed before or after its work.
  void is_killed(run_again again, bool after_its_work) const {
    forked host([&](const forked::teller& parent) {
      const client own{server().url(), patient()};
      const auto run = job(own, again).try_begin();
      if (run && after_its_work) work(own);
      parent.tell(run ? "begun" : run.error().what());
      parent.sleep_until_killed();
    });
    EXPECT_EQ(host.heard(), "begun");
    host.kill9();
  }

  using seconds = std::chrono::seconds;

 private:
  support::clock_shim clock_;
  std::optional<private_server> server_;
  std::vector<client> hosts_;
  seconds offset_{};
  std::int64_t first_ = 0;
};
HOLDFAST_ON_EACH_SERVER(OncePer);

// A holder is killed in each 25th slot, by turns before and after its work.
constexpr bool dies(int which) { return support::allocator_survives_fork && which % 25 == 7; }
constexpr bool dies_after_its_work(int which) { return which % 50 == 7; }

TEST_P(OncePer, EachSlotHasOneRunOrAtMostOneWhereAHolderDied) {
  constexpr int slots = 1000;
  each_asks_in_each_slot(slots, [&](int which, int by) {
    if (by == 1 && dies(which)) return is_killed(run_again::never, dies_after_its_work(which));
    call_once(job(host(by), run_again::never), [&] { work(host(by)); });
  });
  std::int64_t expected = 0;
  for (int i = 0; i < slots; ++i) {
    const int times = dies(i) && !dies_after_its_work(i) ? 0 : 1;
    ASSERT_EQ(times_done(i), times) << i;
    expected += times;
  }
  EXPECT_EQ(done_in_all(), expected) << "in other slots";
}

TEST_P(OncePer, EachSlotHasARunThatIsDoneWhereItMayRunAgain) {
  constexpr int slots = 100;
  each_asks_in_each_slot(slots, [&](int which, int by) {
    if (by == 1 && dies(which)) return is_killed(run_again::lost, dies_after_its_work(which));
    call_once(job(host(by), run_again::lost), [&] { work(host(by)); });
  });
  for (int i = 0; i < slots; ++i) {
    ASSERT_EQ(times_done(i), dies(i) && dies_after_its_work(i) ? 2 : 1) << i;
  }
}

// The connection breaks behind each byte of what is asked and answered: a run is recorded once.
TEST_P(OncePer, ARunWhoseAnswerIsLostIsNotBegunTwice) {
  support::fault_proxy network{net::unix_endpoint{server().socket()}};
  const client redis{network.url(), impatient()};
  const auto once = [&](int which) {
    const auto name = "job " + std::to_string(which);
    int runs = 0;
    const once_per_options rule{.interval = slot, .run_again = run_again::failed};
    while (call_once(redis.once_per(name, rule), [&] { ++runs; })) continue;
    return runs;
  };
  EXPECT_EQ(once(0), 1);
  const auto read = network.forwarded(support::toward::client);
  EXPECT_EQ(once(1), 1);
  const auto most = network.forwarded(support::toward::client) - read + 8;
  for (std::size_t bytes = 0; bytes <= most; bytes += 9) {
    SCOPED_TRACE(bytes);
    network.cut_after(support::toward::client, bytes, support::cut::close);
    ASSERT_EQ(once(static_cast<int>(bytes) + 2), 1);
    network.heal();
  }
  EXPECT_GT(network.cuts(), most / 12);
}

}  // namespace
}  // namespace holdfast::faults
