// Every kind of the catalogue over every topology: it does there what it promises, or is refused.
#include <algorithm>
#include <array>
#include <future>
#include <vector>

#include "conformance/conformance.hpp"
#include "conformance/makers.hpp"
#include "support/certificates.hpp"
#include "support/cluster_servers.hpp"
#include "support/sentinel_group.hpp"

namespace holdfast::conformance {
namespace {

class Topologies : public support::server_test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS_ONE_SERVER("topologies of its own");
    support::server_test::SetUp();
  }
};
HOLDFAST_ON_EACH_SERVER(Topologies);

bool somebody_waits(const client& redis, const std::string& name) {
  return eventually([&] { return inspector{redis}.status(name).waiting == 1; });
}

// Two want it at once; the first leaves; the second goes on with a larger token.
void expect_exclusion(const capability& what, const lock& first, const lock& rival,
                      const std::function<bool()>& waits) {
  auto held = first.try_acquire();
  ASSERT_TRUE(held) << held.error().what();
  EXPECT_EQ(static_cast<bool>(held->token()), what.token);
  expect_reason(rival.try_acquire(), errc::busy);
  auto second =
      std::async(std::launch::async, [&] { return rival.try_acquire({.timeout = generous}); });
  EXPECT_TRUE(waits());
  EXPECT_TRUE(held->held());
  EXPECT_TRUE(held->release());
  auto got = second.get();
  ASSERT_TRUE(got) << got.error().what();
  if (what.token) {
    EXPECT_GT(got->token(), held->token());
  }
  EXPECT_TRUE(got->release());
}

// What nobody holds, by the kind's name in the catalogue: two clients use it together.
using use_of_two = std::function<void(const client&, const client&)>;

void meet(const latch& one, const latch& other) {
  ASSERT_TRUE(one.try_set(2));
  auto waiting =
      std::async(std::launch::async, [&] { return one.try_wait({.timeout = generous}); });
  EXPECT_EQ(other.count_down(), 1U);
  EXPECT_EQ(other.count_down(), 0U);
  EXPECT_TRUE(waiting.get());
}

const std::map<std::string_view, use_of_two>& unheld_kinds() {
  static const std::map<std::string_view, use_of_two> all = {
      {"latch", [](auto& redis, auto& other) { meet(redis.latch("ready"), other.latch("ready")); }},
      {"Redisson's RCountDownLatch",
       [](auto& redis, auto& other) {
         const latch_options theirs{.dialect = dialect::redisson()};
         meet(redis.latch("theirs", theirs), other.latch("theirs", theirs));
       }},
      {"barrier",
       [](auto& redis, auto& other) {
         auto waiting = std::async(std::launch::async, [&] {
           return redis.barrier("round", 2).arrive_and_wait({.timeout = generous});
         });
         const auto generation = other.barrier("round", 2).arrive_and_wait({.timeout = generous});
         EXPECT_EQ(waiting.get(), generation);
       }},
      {"counter",
       [](auto& redis, auto& other) {
         EXPECT_EQ(redis.counter("stock").add(5), 5);
         EXPECT_EQ(other.counter("stock").subtract(2).value, 3);
         EXPECT_FALSE(other.counter("stock").subtract(4));
       }},
      {"fenced write",
       [](auto& redis, auto& other) {
         const auto early = redis.mutex("report").acquire().token();
         const auto late = other.mutex("report").acquire().token();
         EXPECT_TRUE(other.fenced_set("report:1", "late", late));
         EXPECT_FALSE(redis.fenced_set("report:1", "early", early));
       }},
      {"rate limiter",
       [](auto& redis, auto& other) {
         const rate_limit slow{.rate = 0.01, .burst = 2};
         EXPECT_TRUE(redis.rate_limiter("mails", slow).try_acquire(2));
         EXPECT_FALSE(other.rate_limiter("mails", slow).try_acquire());
       }},
      {"block of ids",
       [](auto& redis, auto& other) {
         EXPECT_NE(redis.id_generator("orders").next(), other.id_generator("orders").next());
       }},
  };
  return all;
}

// Every row of the catalogue; those for which `is_refused` must say so.
void expect_all_kinds(const client& redis, const client& other,
                      const std::function<bool(std::string_view)>& is_refused) {
  std::size_t seen = 0;
  for (const auto& what : capabilities()) {
    SCOPED_TRACE(std::string(what.kind));
    ++seen;
    if (what.to_release == 0) {
      ASSERT_TRUE(unheld_kinds().contains(what.kind));
      unheld_kinds().at(what.kind)(redis, other);
      continue;
    }
    ASSERT_TRUE(makers().contains(what.kind));
    const std::string name(what.kind);
    const auto& make = makers().at(what.kind);
    if (is_refused(what.kind)) {
      EXPECT_EQ(thrown_by([&] { (void)make(redis, name); }).reason(), errc::unsupported);
      continue;
    }
    const bool has_queue = what.handed_over && what.kind != "several mutexes";
    expect_exclusion(what, make(redis, name), rival_of(what.kind)(other, name),
                     [&] { return !has_queue || somebody_waits(redis, name); });
  }
  EXPECT_EQ(seen, makers().size() + unheld_kinds().size());
}

bool none(std::string_view) { return false; }

TEST_P(Topologies, OneServer) {
  const auto server = start();
  expect_all_kinds(client{server.url()}, client{server.url()}, none);
}

#ifdef HOLDFAST_WITH_TLS
TEST_P(Topologies, OneServerByTls) {
  support::certificate_authority authority;
  const auto server =
      start({.tls = support::server_tls{.own = authority.issue(), .authority = authority.file()}});
  const client_options trusting{.tls = {.ca_file = authority.file()}};
  expect_all_kinds(client{server.tls_url(), trusting}, client{server.tls_url(), trusting}, none);
}
#endif

TEST_P(Topologies, MasterUnderSentinel) {
  const support::sentinel_group group{GetParam()};
  expect_all_kinds(client{group.url()}, client{group.url()}, none);
}

TEST_P(Topologies, Cluster) {
  const support::cluster_servers servers{{.program = GetParam()}};
  expect_all_kinds(client{servers.url()}, client{servers.url()}, is_refused_over_cluster);
}

// What a quorum is not for is no member of it, and does not compile.
template <typename T>
concept has_other_kinds =
    requires(const T& it) { it.rw("a"); } || requires(const T& it) { it.semaphore("a"); } ||
    requires(const T& it) { it.mode_lock("a"); } ||
    requires(const T& it) { it.recursive_mutex("a"); } ||
    requires(const T& it) { it.elect("a"); } || requires(const T& it) { it.latch("a"); } ||
    requires(const T& it) { it.barrier("a", 2); } || requires(const T& it) { it.counter("a"); } ||
    requires(const T& it) { it.rate_limiter("a", rate_limit{}); } ||
    requires(const T& it) { it.id_generator("a"); } ||
    requires(const T& it) { it.fenced_set("a", "b", fencing_token{}); };
static_assert(has_other_kinds<client> && !has_other_kinds<quorum>);

TEST_P(Topologies, Quorum) {
  const std::array servers{start(), start(), start(), start(), start()};
  const auto voters = [&] {
    std::vector<client> members;
    for (const auto& each : servers) members.emplace_back(each.url());
    return quorum{members};
  };
  const quorum ours = voters(), others = voters();
  const auto all = capabilities();
  const auto expect_kind = [&](const char* kind, const lock_options& how) {
    SCOPED_TRACE(kind);
    const auto what = std::ranges::find(all, kind, &capability::kind);
    ASSERT_NE(what, all.end());
    expect_exclusion(*what, ours.mutex(kind, how), others.mutex(kind, how), [] { return true; });
  };
  expect_kind("mutex of a quorum", {});
  expect_kind("Redlock over a quorum", {.dialect = dialect::redlock()});
  expect_kind("node-redlock's Lock",
              {.dialect = dialect::redlock({redlock_library::node_redlock})});
  const lock_options unsound[] = {
      {.fair = true},
      {.fencing = fencing::off},
      {.dialect = dialect::redis_py()},
      {.dialect = dialect::go_zero()},
      {.dialect = dialect::redisson()},
      {.dialect = dialect::redisson(redisson_lock::spin)},
      {.dialect = dialect::redisson(redisson_lock::fenced)},
      {.dialect = dialect::spring_integration({"a"})},
      {.dialect = dialect::python_redis_lock()},
      {.dialect = dialect::shedlock()},
      {.dialect = dialect::rueidislock()},
  };
  for (const auto& how : unsound) {
    SCOPED_TRACE(std::string(how.dialect.name()));
    EXPECT_EQ(thrown_by([&] { (void)ours.mutex("a", how); }).reason(), errc::unsupported);
  }
}

}  // namespace
}  // namespace holdfast::conformance
