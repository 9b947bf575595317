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

// A kind that nobody holds, by its name in the catalogue: two clients use it together.
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
         const auto theirs = dialect::redisson();
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
      {"once per interval",
       [](auto& redis, auto& other) {
         const once_per_options yearly{.interval = 366 * 24h};
         EXPECT_TRUE(call_once(redis.once_per("greetings", yearly), [] {}));
         EXPECT_FALSE(call_once(other.once_per("greetings", yearly), [] {}));
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

TEST_P(Topologies, MasterUnderSentinel) {
  const support::sentinel_group group{GetParam()};
  expect_all_kinds(client{group.url()}, client{group.url()}, none);
}

TEST_P(Topologies, Cluster) {
  const support::cluster_servers servers{{.program = GetParam()}};
  expect_all_kinds(client{servers.url()}, client{servers.url()}, is_refused_over_cluster);
}

#ifdef HOLDFAST_WITH_TLS
// Among the servers as well.
class TopologiesByTls : public Topologies {
 protected:
  support::server_tls tls() { return {.own = authority_.issue(), .authority = authority_.file()}; }
  client trusting(const std::string& url) const {
    EXPECT_TRUE(url.starts_with("rediss")) << url;
    return client{url, {.tls = {.ca_file = authority_.file()}}};
  }

 private:
  support::certificate_authority authority_;
};
HOLDFAST_ON_EACH_SERVER(TopologiesByTls);

TEST_P(TopologiesByTls, OneServer) {
  const auto server = start({.tls = tls()});
  expect_all_kinds(trusting(server.tls_url()), trusting(server.tls_url()), none);
}

TEST_P(TopologiesByTls, MasterUnderSentinel) {
  const support::sentinel_group group{GetParam(), tls()};
  expect_all_kinds(trusting(group.url()), trusting(group.url()), none);
}

TEST_P(TopologiesByTls, Cluster) {
  const support::cluster_servers servers{{.program = GetParam(), .tls = tls()}};
  expect_all_kinds(trusting(servers.url()), trusting(servers.url()), is_refused_over_cluster);
}
#endif

// A kind over a quorum: it can be had, this way; its options are refused; or it cannot be asked
// for, since that does not compile.
using quorum_maker = std::function<lock(const quorum&, const std::string&)>;
struct over_quorum {
  enum class fate : std::uint8_t { had, refused, absent } what;
  quorum_maker made{};
};

quorum_maker mutex_in(const dialect& how) {
  return [=](auto& voters, auto& name) { return voters.mutex(name, {}, how); };
}
over_quorum had(quorum_maker made) { return {over_quorum::fate::had, std::move(made)}; }
over_quorum refused(const dialect& how) { return {over_quorum::fate::refused, mutex_in(how)}; }

// One for each, so that a misspelt one is noticed: a client has it.
template <typename T>
concept has_fencing = requires(const T& it) { it.mutex("a", {.fencing = fencing::off}); };
template <typename T>
concept has_fair = requires(const T& it) { it.mutex("a", {.fair = true}); };
template <typename T>
concept has_recursive_mutex = requires(const T& it) { it.recursive_mutex("a"); };
template <typename T>
concept has_election = requires(const T& it) { it.election("a"); };
template <typename T>
concept has_rw = requires(const T& it) { it.read_write_lock("a"); };
template <typename T>
concept has_semaphore = requires(const T& it) { it.semaphore("a"); };
template <typename T>
concept has_mode_lock = requires(const T& it) { it.mode_lock("a"); };
template <typename T>
concept has_latch = requires(const T& it) { it.latch("a"); };
template <typename T>
concept has_barrier = requires(const T& it) { it.barrier("a", 2); };
template <typename T>
concept has_counter = requires(const T& it) { it.counter("a"); };
template <typename T>
concept has_rate_limiter = requires(const T& it) { it.rate_limiter("a", rate_limit{}); };
template <typename T>
concept has_once_per = requires(const T& it) { it.once_per("a", once_per_options{}); };
template <typename T>
concept has_id_generator = requires(const T& it) { it.id_generator("a"); };
template <typename T>
concept has_fenced_set = requires(const T& it) { it.fenced_set("a", "b", fencing_token{}); };

template <bool ClientHasIt, bool QuorumHasIt>
over_quorum absent() {
  static_assert(ClientHasIt && !QuorumHasIt);
  return {over_quorum::fate::absent};
}

using all_over_quorum = std::map<std::string_view, over_quorum>;

all_over_quorum native_over_quorum() {
  const auto no_rw = absent<has_rw<client>, has_rw<quorum>>();
  const auto no_mode_lock = absent<has_mode_lock<client>, has_mode_lock<quorum>>();
  return {
      {"mutex", had(mutex_in({}))},
      {"mutex of a quorum", had(mutex_in({}))},
      {"several mutexes", had([](auto& voters, auto& name) {
         return all_of({voters.mutex(name), voters.mutex("with " + name)});
       })},
      {"mutex without tokens", absent<has_fencing<client>, has_fencing<quorum>>()},
      {"fair mutex", absent<has_fair<client>, has_fair<quorum>>()},
      {"recursive mutex", absent<has_recursive_mutex<client>, has_recursive_mutex<quorum>>()},
      {"election", absent<has_election<client>, has_election<quorum>>()},
      {"reader", no_rw},
      {"upgradeable reader", no_rw},
      {"writer", no_rw},
      {"semaphore", absent<has_semaphore<client>, has_semaphore<quorum>>()},
      {"mode lock, NL to PW", no_mode_lock},
      {"mode lock, EX", no_mode_lock},
      {"latch", absent<has_latch<client>, has_latch<quorum>>()},
      {"barrier", absent<has_barrier<client>, has_barrier<quorum>>()},
      {"counter", absent<has_counter<client>, has_counter<quorum>>()},
      {"fenced write", absent<has_fenced_set<client>, has_fenced_set<quorum>>()},
      {"rate limiter", absent<has_rate_limiter<client>, has_rate_limiter<quorum>>()},
      {"once per interval", absent<has_once_per<client>, has_once_per<quorum>>()},
      {"block of ids", absent<has_id_generator<client>, has_id_generator<quorum>>()},
  };
}

all_over_quorum foreign_over_quorum() {
  const auto redsync = had(mutex_in(dialect::redlock()));
  const auto node_redlock = dialect::redlock({redlock_library::node_redlock});
  const spring_registry told{.registry_key = "b", .mode = registry_mode::pub_sub};
  const auto no_rw = absent<has_rw<client>, has_rw<quorum>>();
  const auto no_semaphore = absent<has_semaphore<client>, has_semaphore<quorum>>();
  return {
      {"redsync's Mutex", redsync},
      {"Redlock over a quorum", redsync},
      {"node-redlock's Lock", had(mutex_in(node_redlock))},
      {"plain lock, as redis-py's", refused(dialect::redis_py())},
      {"go-zero's RedisLock", refused(dialect::go_zero())},
      {"Redisson's RLock", refused(dialect::redisson())},
      {"Redisson's RFairLock", absent<has_fair<client>, has_fair<quorum>>()},
      {"Redisson's RSpinLock", refused(dialect::redisson(redisson_lock::spin))},
      {"Redisson's RFencedLock", refused(dialect::redisson(redisson_lock::fenced))},
      {"Redisson's RReadWriteLock, reader", no_rw},
      {"Redisson's RReadWriteLock, writer", no_rw},
      {"Redisson's RSemaphore", no_semaphore},
      {"Redisson's RPermitExpirableSemaphore", no_semaphore},
      {"Redisson's RCountDownLatch", absent<has_latch<client>, has_latch<quorum>>()},
      {"Spring's registry, SPIN_LOCK", refused(dialect::spring_integration({"a"}))},
      {"Spring's registry, PUB_SUB_LOCK", refused(dialect::spring_integration(told))},
      {"python-redis-lock's Lock", refused(dialect::python_redis_lock())},
      {"ShedLock's lock of a job", refused(dialect::shedlock())},
      {"rueidislock's lock", refused(dialect::rueidislock())},
      {"Symfony's lock", refused(dialect::symfony())},
      {"Symfony's lock, reader", no_rw},
      {"Symfony's lock, writer", no_rw},
      {"redis-semaphore's Semaphore", no_semaphore},
  };
}

TEST_P(Topologies, Quorum) {
  const std::array servers{start(), start(), start(), start(), start()};
  const auto voters = [&] {
    std::vector<client> members;
    for (const auto& each : servers) members.emplace_back(each.url());
    return quorum{members};
  };
  const quorum ours = voters(), others = voters();
  auto all = native_over_quorum();
  all.merge(foreign_over_quorum());
  std::size_t seen = 0;
  for (const auto& what : capabilities()) {
    SCOPED_TRACE(std::string(what.kind));
    ASSERT_TRUE(all.contains(what.kind)) << "say what becomes of it";
    ++seen;
    const auto fate = all.at(what.kind).what;
    const auto& made = all.at(what.kind).made;
    const std::string name(what.kind);
    if (fate == over_quorum::fate::refused) {
      const auto why = thrown_by([&] { (void)made(ours, name); });
      EXPECT_EQ(why.reason(), errc::unsupported);
      EXPECT_THAT(why.what(), testing::HasSubstr("quorum"));
    } else if (fate == over_quorum::fate::had) {
      expect_exclusion(what, made(ours, name), made(others, name), [] { return true; });
    }
  }
  EXPECT_EQ(seen, all.size());
}

}  // namespace
}  // namespace holdfast::conformance
