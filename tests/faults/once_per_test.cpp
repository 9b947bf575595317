// One job in the timetables of three hosts whose clocks are 30 s apart, 1,000 slots long. Holders
// are killed. The test counts what the jobs did; the server's clock says in which slot.
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "support/clock_shim.hpp"
#include "support/fault_proxy.hpp"
#include "support/forked.hpp"
#include "support/raw_connection.hpp"

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
    watch_.emplace(net::unix_endpoint{server_->socket()});
    hosts_ = {client{server_->url(), patient()}, client{server_->url(), patient()},
              client{server_->url(), patient()}};
    started_ = net::now();
    begin_ = server_time();
  }

  const private_server& server() const { return *server_; }
  const client& host(int which) const { return hosts_.at(static_cast<std::size_t>(which)); }

  // Slot 0 begins when the test does.
  once_per job(const client& host, run_again again) const {
    const once_per_options rule{
        .interval = slot, .offset = begin_ % slot, .run_again = again, .lease = 10s};
    return host.once_per("mails", rule);
  }

  // What the job does: it counts up where its slot stands, by the server's clock.
  void work(const client& by) const {
    const std::string counts =
        "local slot = math.floor((redis.call('TIME')[1] - ARGV[1]) / ARGV[2]) "
        "return redis.call('HINCRBY', KEYS[1], slot, 1)";
    (void)by.fenced_eval(counts, {"done"},
                         {std::to_string(begin_.count()), std::to_string(slot.count())},
                         fencing_token{1});
  }
  int times_done(int which) {
    const auto said = watch_->command({"HGET", "done", std::to_string(which)}).text;
    return said.empty() ? 0 : std::stoi(said);
  }
  std::int64_t slots_with_work() { return watch_->command({"HLEN", "done"}).number; }

  // The hosts' clocks are 30 s apart, and each asks at its full minute. So in each slot two ask at
  // the same time, and the third half a slot later. Where a holder is killed, one of the two is,
  // and the other is late. `ask` is called with the slot and the host, `killed` with the slot.
  template <typename Ask, typename Killed>
  void each_asks_in_each_slot(int slots, const Ask& ask, const Killed& killed) {
    for (int i = 0; i < slots; ++i) {
      SCOPED_TRACE(i);
      set_clock(i * slot + 10s);
      if (dies(i)) {
        killed(i);
      } else {
        auto at_the_same_time = std::async(std::launch::async, [&] { ask(i, 0); });
        ask(i, 2);
        at_the_same_time.get();
      }
      set_clock(i * slot + 40s);
      if (dies(i)) ask(i, 2);
      ask(i, 1);
    }
  }

  // A holder dies in each 25th slot, by turns before and after its work.
  static constexpr bool dies(int which) {
    return support::allocator_survives_fork && which % 25 == 7;
  }
  static constexpr bool dies_after_its_work(int which) { return which % 50 == 7; }

  // A host in a process of its own, which begins the run.
  void kill_host(run_again again, bool after_its_work) const {
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
  seconds server_time() { return seconds{std::stoll(watch_->command({"TIME"}).items.at(0).text)}; }

  // So long after the test began, however long it has taken. Valkey 9 notices it a bit later.
  void set_clock(seconds since) {
    clock_.set(since - (net::now() - started_));
    ASSERT_TRUE(eventually([&] { return abs(server_time() - begin_ - since) < 10s; }));
  }

  support::clock_shim clock_;
  std::optional<private_server> server_;
  std::optional<support::raw_connection> watch_;
  std::vector<client> hosts_;
  monotonic_time started_;
  seconds begin_{};
};
HOLDFAST_ON_EACH_SERVER(OncePer);

TEST_P(OncePer, EachSlotHasOneRunOrAtMostOneWhereAHolderDied) {
  const int slots = GetParam() == support::server_programs().front() ? 1000 : 100;
  constexpr auto again = run_again::never;
  each_asks_in_each_slot(
      slots, [&](int, int by) { call_once(job(host(by), again), [&] { work(host(by)); }); },
      [&](int which) { kill_host(again, dies_after_its_work(which)); });
  int with_work = 0;
  for (int i = 0; i < slots; ++i) {
    const int times = dies(i) && !dies_after_its_work(i) ? 0 : 1;
    ASSERT_EQ(times_done(i), times) << i;
    with_work += times;
  }
  EXPECT_EQ(slots_with_work(), with_work) << "in other slots";
}

TEST_P(OncePer, EachSlotHasARunThatIsDoneWhereItMayRunAgain) {
  constexpr int slots = 100;
  constexpr auto again = run_again::lost;
  each_asks_in_each_slot(
      slots, [&](int, int by) { call_once(job(host(by), again), [&] { work(host(by)); }); },
      [&](int which) { kill_host(again, dies_after_its_work(which)); });
  for (int i = 0; i < slots; ++i) {
    ASSERT_EQ(times_done(i), dies(i) && dies_after_its_work(i) ? 2 : 1) << i;
  }
  EXPECT_EQ(slots_with_work(), slots);
}

// The connection breaks behind each byte of what is asked and answered: a run is recorded once.
TEST_P(OncePer, ARunWhoseAnswerIsLostIsNotBegunTwice) {
  support::fault_proxy network{net::unix_endpoint{server().socket()}};
  const client redis{network.url(), impatient()};
  const auto once = [&](int which) {
    const auto name = "job " + std::to_string(which);
    int runs = 0;
    const once_per_options rule{.interval = 8784h, .run_again = run_again::failed};
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
