#include <holdfast/metrics.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace holdfast {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

event of_lock(event_type type, const char* name = "orders", lock_kind kind = lock_kind::mutex) {
  return {.type = type, .name = name, .kind = kind};
}

// A lock that is asked for, held for a while and given back.
void hold(metrics& of, const char* name) {
  of.on(of_lock(event_type::asked, name));
  of.on(of_lock(event_type::granted, name));
  of.on(of_lock(event_type::released, name));
}

TEST(Metrics, HaveTheirFamiliesBeforeAnythingHappens) {
  const auto text = metrics{}.text();
  EXPECT_THAT(text,
              ::testing::StartsWith(
                  "# HELP holdfast_acquire_seconds How long calls that wanted a lock took, by "
                  "how they ended.\n# TYPE holdfast_acquire_seconds histogram\n"
                  "# HELP holdfast_wait_seconds "));
  EXPECT_THAT(text, HasSubstr("\n# TYPE holdfast_waiters gauge\n# HELP holdfast_errors_total "));
  EXPECT_THAT(text, ::testing::EndsWith("\n# TYPE holdfast_labels_dropped_total counter\n"
                                        "holdfast_labels_dropped_total 0\n"));
}

TEST(Metrics, CountCallsByTheirOutcome) {
  metrics counted;
  counted.on(of_lock(event_type::asked));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_waiters{kind=\"mutex\"} 1\n"));
  auto refused = of_lock(event_type::refused);
  refused.duration = 2s;
  refused.waited = true;
  refused.error = errc::timed_out;
  counted.on(refused);
  counted.on(of_lock(event_type::asked));
  refused.waited = false;
  refused.error = errc::queue_full;
  counted.on(refused);
  counted.on(of_lock(event_type::asked));
  refused.error.reset();
  counted.on(refused);
  const auto text = counted.text();
  EXPECT_THAT(text, HasSubstr("holdfast_waiters{kind=\"mutex\"} 0\n"));
  const std::string timed_out = "{kind=\"mutex\",outcome=\"timed_out\"";
  EXPECT_THAT(text, HasSubstr("holdfast_acquire_seconds_bucket" + timed_out + ",le=\"1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_acquire_seconds_bucket" + timed_out + ",le=\"2.5\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_acquire_seconds_bucket" + timed_out + ",le=\"+Inf\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_acquire_seconds_sum" + timed_out + "} 2.000000\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_acquire_seconds_count" + timed_out + "} 1\n"));
  EXPECT_THAT(text, HasSubstr("_count{kind=\"mutex\",outcome=\"failed\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("outcome=\"busy\""))) << "none was";
  EXPECT_THAT(text, HasSubstr("holdfast_wait_seconds_count{kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_errors_total{errc=\"queue_full\",kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_errors_total{errc=\"none\",kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("errc=\"timed_out\""))) << "that is no error";
}

TEST(Metrics, CountLeasesAndHowTheyEnd) {
  metrics counted;
  for (int i = 0; i < 3; ++i) {
    counted.on(of_lock(event_type::asked));
    counted.on(of_lock(event_type::granted));
  }
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_held{kind=\"mutex\"} 3\n"));
  auto ended = of_lock(event_type::lost);
  ended.duration = 1500ms;
  counted.on(ended);
  ended.type = event_type::released;
  ended.error = errc::unavailable;
  counted.on(ended);
  auto late = of_lock(event_type::renewed_late);
  late.duration = 1ms;
  counted.on(late);
  const auto text = counted.text();
  EXPECT_THAT(text, HasSubstr("holdfast_held{kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_losses_total{kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_sum{kind=\"mutex\"} 3.000000\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_errors_total{errc=\"unavailable\",kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_lateness_seconds_bucket{kind=\"mutex\",le=\"0.001\"} 1\n"))
      << "a bucket includes its bound";
  EXPECT_THAT(text, HasSubstr("_lateness_seconds_bucket{kind=\"mutex\",le=\"0.0005\"} 0\n"));
}

// As ten thousand locks that are held for a year together.
TEST(Metrics, AddUpTenThousandYears) {
  metrics counted;
  auto ended = of_lock(event_type::released);
  ended.duration = std::chrono::hours{24 * 365};
  for (int i = 0; i < 10'000; ++i) counted.on(ended);
  EXPECT_THAT(counted.text(),
              HasSubstr("holdfast_hold_seconds_sum{kind=\"mutex\"} 315360000000.000000\n"));
}

TEST(Metrics, HoldNoLatch) {
  metrics counted;
  counted.on(of_lock(event_type::asked, "start", lock_kind::latch));
  counted.on(of_lock(event_type::granted, "start", lock_kind::latch));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_held{kind=\"latch\"} 0\n"));
}

TEST(Metrics, CountConnections) {
  metrics counted;
  counted.on({.type = event_type::reconnected, .server = "a:1"});
  counted.on({.type = event_type::reconnected, .server = "b:1"});
  counted.on({.type = event_type::failed_over, .server = "b:1"});
  counted.on({.type = event_type::login_failed});
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_reconnects_total 2\n"));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_failovers_total 1\n"));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_failed_logins_total 1\n"));
  EXPECT_THAT(counted.text(), Not(HasSubstr("kind=")));
}

TEST(Metrics, IgnoreWhatALaterVersionTells) {
  metrics counted;
  counted.on(of_lock(static_cast<event_type>(1000)));
  counted.on(of_lock(event_type::asked, "orders", static_cast<lock_kind>(1000)));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_waiters{kind=\"mutex\"} 0\n"));
  EXPECT_THAT(counted.text(), HasSubstr("holdfast_waiters{kind=\"unknown\"} 1\n"));
}

TEST(Metrics, HaveALabelOnlyThroughTheUsersFunction) {
  metrics counted{
      {.label = [](std::string_view name) { return std::string{name.substr(0, name.find(':'))}; }}};
  hold(counted, "orders:1");
  hold(counted, "orders:2");
  hold(counted, ":3");
  const auto text = counted.text();
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\",lock=\"orders\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\"} 1\n"))
      << "an empty label is none";
}

TEST(Metrics, EscapeLabelsAndKeepThemUtf8) {
  metrics counted{{.label = [](std::string_view name) { return std::string{name}; }}};
  hold(counted, "a\"b\\c\nd");
  hold(counted, "\xc3\xa4\xff\xed\xa0\x80");
  EXPECT_THAT(counted.text(), HasSubstr("lock=\"a\\\"b\\\\c\\nd\"} 1\n"));
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_THAT(counted.text(), HasSubstr("lock=\"\xc3\xa4" + bad + bad + bad + bad + "\"} 1\n"));
}

TEST(Metrics, HaveABoundedNumberOfLabelsAndCountWhatIsBeyond) {
  metrics counted{
      {.label = [](std::string_view name) { return std::string{name}; }, .most_labels = 2}};
  for (const char* name : {"a", "b", "c", "a"}) hold(counted, name);
  const auto text = counted.text();
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\",lock=\"a\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\",lock=\"b\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("holdfast_hold_seconds_count{kind=\"mutex\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("lock=\"c\"")));
  EXPECT_THAT(text, HasSubstr("holdfast_labels_dropped_total 3\n"));
  EXPECT_THROW(metrics{{.most_labels = 0}}, failure);
  EXPECT_THROW(metrics{{.most_labels = 10'001}}, failure);
}

TEST(Metrics, MissNothingThatSeveralThreadsTell) {
  metrics counted{{.label = [](std::string_view name) { return std::string{name}; }}};
  constexpr int each = 1000;
  const std::vector<const char*> names{"a", "b", "c", "d"};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int n = 0; n < each; ++n) {
          hold(counted, names[static_cast<std::size_t>(n) % names.size()]);
        }
      });
    }
  }
  for (const auto* name : names) {
    const auto labels = "{kind=\"mutex\",lock=\"" + std::string{name} + "\"";
    EXPECT_THAT(counted.text(), HasSubstr("holdfast_hold_seconds_count" + labels + "} 1000\n"));
    EXPECT_THAT(counted.text(), HasSubstr("holdfast_held" + labels + "} 0\n"));
  }
}

}  // namespace
}  // namespace holdfast
