// What clients demand of grants, of all kinds that are held: that replicas have them, and that none
// comes in quarantine.
#include <functional>
#include <string>
#include <string_view>

#include "conformance/makers.hpp"
#include "faults/replicas.hpp"

namespace holdfast::faults {
namespace {

using conformance::maker;

// Members of a quorum are asked for votes, which neither is for.
bool is_of_a_quorum(std::string_view kind) { return kind.find("quorum") != std::string_view::npos; }

void for_each_kind(const std::function<void(std::string_view, const maker&)>& check) {
  for (const auto& [kind, make] : conformance::makers()) {
    if (is_of_a_quorum(kind)) continue;
    SCOPED_TRACE(kind);
    check(kind, make);
  }
}

// Somebody else can have what excludes it.
void expect_nothing_held(const client& other, std::string_view kind, const std::string& name) {
  auto got = conformance::rival_of(kind)(other, name).try_acquire({.timeout = support::generous});
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_TRUE(got->release());
}

std::int64_t writes_of(const private_server& server) {
  const auto told = server.command({"INFO", "persistence"}).text;
  const std::string label = "rdb_changes_since_last_save:";
  return std::stoll(told.substr(told.find(label) + label.size()));
}

class ReplicasOfEachKind : public replicas_test {};
HOLDFAST_ON_EACH_SERVER(ReplicasOfEachKind);

TEST_P(ReplicasOfEachKind, ThatDoNotAnswerRefuseItAndNothingIsLeftHeld) {
  const client redis{master().url(), demanding({.response_timeout = 2s})}, other{master().url()};
  for_each_kind([&](std::string_view kind, const maker& make) {
    const std::string name = "never had: " + std::string(kind);
    replica().freeze();
    expect_failure(make(redis, name).try_acquire(), errc::no_replicas, "0 of 1");
    expect_nothing_held(other, kind, name);
    replica().thaw();
  });
}

TEST_P(ReplicasOfEachKind, ThatAnswerLetItBeHad) {
  const client redis{master().url(), demanding()};
  for_each_kind([&](std::string_view kind, const maker& make) {
    auto held = make(redis, "had: " + std::string(kind)).try_acquire();
    ASSERT_TRUE(held) << why_not(held);
    EXPECT_TRUE(held->release());
  });
}

// WAIT speaks of what was written before it. Where a renewal writes nothing it speaks of something
// older, which a replica may have that has long been silent.
TEST_P(ReplicasOfEachKind, AreSentEachRenewalAlsoOneThatProlongsNothing) {
  const client redis{master().url()};
  for_each_kind([&](std::string_view kind, const maker& make) {
    auto held = make(redis, "renewed: " + std::string(kind)).try_acquire();
    ASSERT_TRUE(held) << why_not(held);
    for (int times = 0; times < 10; ++times) {
      const auto before = writes_of(master());
      const auto longer = held->extend(10ms);
      ASSERT_TRUE(longer) << why_not(longer);
      EXPECT_GT(writes_of(master()), before);
    }
    EXPECT_TRUE(held->release());
  });
}

class QuarantineOfEachKind : public fault_test {};
HOLDFAST_ON_EACH_SERVER(QuarantineOfEachKind);

TEST_P(QuarantineOfEachKind, LetsNobodyHaveIt) {
  auto server = start();
  client_options careful{.response_timeout = support::generous};
  careful.quarantine = 1h;
  const client redis{server.url(), careful}, other{server.url()};
  ASSERT_TRUE(redis.mutex("before").try_acquire());
  server.kill9();
  server.restart();
  const auto is_noticed = [&] {
    const auto got = redis.mutex("a").try_acquire();
    return !got && std::string(got.error().what()).find("quarantine") != std::string::npos;
  };
  ASSERT_TRUE(eventually(is_noticed));
  for_each_kind([&](std::string_view kind, const maker& make) {
    const std::string name = "refused: " + std::string(kind);
    expect_failure(make(redis, name).try_acquire(), errc::unavailable, "quarantine");
    expect_nothing_held(other, kind, name);
  });
}

}  // namespace
}  // namespace holdfast::faults
