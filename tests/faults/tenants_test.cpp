// Two tenants of one server, each with the rights that `holdfast acl --tenant` prints and no more:
// what each does to its own works, and nothing of the other's can be read, written, or told.
// docs/security.md says what tenants still share.
#include <algorithm>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/lock_key.hpp"
#include "faults/each_kind.hpp"
#include "faults/faulty_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {
namespace {

using rights = std::vector<std::string>;

std::vector<std::string> all_kinds() {
  std::vector<std::string> kinds{"operator", "deadlocks", "audit"};
  for (const auto& row : capabilities()) {
    if (row.dialect == "holdfast") kinds.emplace_back(row.kind);
  }
  return kinds;
}

std::vector<std::string> texts(const resp::value& list) {
  std::vector<std::string> all;
  for (const auto& item : list.items) all.push_back(item.text);
  return all;
}

// The values of fenced writes: they are the application's own, under the names that it gave.
bool is_of_an_application(const std::string& key) {
  return key == "a" || key == "a:hash" || key.starts_with("data:");
}

class Tenants : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_ = std::make_unique<private_server>(start());
    for (const auto* const tenant : {"blue", "green", ""}) make_user(tenant);
  }

  const private_server& server() const { return *server_; }
  static std::string user_of(const std::string& tenant) { return tenant.empty() ? "old" : tenant; }
  static client_options options_of(const std::string& tenant) {
    auto options = patient();
    options.tenant = tenant;
    options.username = user_of(tenant);
    options.password = password;
    return options;
  }
  client client_of(const std::string& tenant) const {
    return client{server_->url(), options_of(tenant)};
  }
  std::unique_ptr<support::raw_connection> connection_of(const std::string& tenant) const {
    auto made = std::make_unique<support::raw_connection>(net::unix_endpoint{server_->socket()});
    EXPECT_EQ(made->command({"AUTH", user_of(tenant), password}).text, "OK");
    return made;
  }
  std::vector<std::string> keys() const { return texts(server_->command({"KEYS", "*"})); }
  std::vector<std::string> channels() const {
    return texts(server_->command({"PUBSUB", "CHANNELS", "*"}));
  }
  // The rights that a user was refused, but for those that it does not need.
  std::set<std::string> refused(const rights& optional) const {
    std::set<std::string> all;
    for (const auto& entry : server_->command({"ACL", "LOG", "128"}).items) {
      std::string reason, object;
      for (std::size_t i = 0; i + 1 < entry.items.size(); i += 2) {
        if (entry.items[i].text == "reason") reason = entry.items[i + 1].text;
        if (entry.items[i].text == "object") object = entry.items[i + 1].text;
      }
      if (std::ranges::find(optional, '+' + object) == optional.end()) {
        all.insert(reason + ' ' + object);
      }
    }
    return all;
  }

 private:
  void make_user(const std::string& tenant) const {
    rights words{"ACL", "SETUSER", user_of(tenant), "reset", "on", std::string(">") + password};
    for (const auto& one : access_rights_for("*", all_kinds(), tenant).needed) {
      // Of fenced writes the pattern is one over the application's keys: not over all there are.
      const bool is_over_all = one == "~*";
      words.push_back(is_over_all ? "~a" : one);
    }
    words.insert(words.end(), {"~a:hash", "~data:*"});
    ASSERT_EQ(server_->command(words).text, "OK");
  }

  std::unique_ptr<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(Tenants);

// A name that is forgotten is refused to both, or stands among the keys with another beginning.
TEST_P(Tenants, UseEachKindUnderTheirOwnBeginning) {
  for (const auto& [kinds, tasks] : groups()) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      for (const std::string tenant : {"blue", "green"}) {
        server().command({"ACL", "LOG", "RESET"});
        EXPECT_EQ(attempt(tasks[i], server(), options_of(tenant)), "") << kinds[i];
        EXPECT_THAT(refused(access_rights_for("*", all_kinds(), tenant).optional),
                    ::testing::IsEmpty())
            << kinds[i];
      }
      for (const auto& key : texts(at_their_database(server(), {"KEYS", "*"}))) {
        const bool is_named = key.starts_with("hf:@blue:") || key.starts_with("hf:@green:");
        EXPECT_TRUE(is_named || is_of_an_application(key)) << kinds[i] << ": " << key;
      }
    }
  }
}

// Everything at a time that a client can keep at a server, so that all its keys are there.
class full_house {
 public:
  full_house(const client& of, const client& other)
      : first(of),
        holds(of.mutex("mutex").acquire()),
        reads(of.read_write_lock("rw").shared().acquire()),
        pool(of.semaphore("semaphore", {.permits = 3})),
        permit(pool.permits(2).acquire()),
        vote(quorum{{of}}.mutex("quorum").acquire()),
        gate(of.latch("latch")),
        leads(of.election("election").acquire()) {
    pool.set_permits(2);
    (void)gate.try_set(2);
    of.mode_lock("value").set_value(of.mode_lock("value").in(lock_mode::exclusive).acquire(), "x");
    (void)of.counter("counter").add(5);
    (void)of.rate_limiter("rate", {.rate = 1, .burst = 60}).try_acquire(60);
    (void)of.id_generator("ids").next();
    (void)of.fenced_set("data:" + of.url().substr(0, 4), "x", fencing_token{4096});
    (void)of.mutex("broken").acquire();
    const auto broken = of.mutex("broken").acquire();
    (void)inspector{of}.break_lock("broken", "a test");
    for (const auto& one :
         {other.mutex("mutex"), of.read_write_lock("rw").exclusive(), pool.permits(1)}) {
      waits.emplace_back(
          [one, stop = stop.get_token()] { (void)one.try_acquire({.timeout = forever}, stop); });
    }
    waits.emplace_back([of, stop = stop.get_token()] {
      (void)quorum{{of}}.mutex("quorum").try_acquire({.timeout = forever}, stop);
    });
    waits.emplace_back(
        [this, stop = stop.get_token()] { (void)gate.try_wait({.timeout = forever}, stop); });
    waits.emplace_back([of, stop = stop.get_token()] {
      (void)of.barrier("barrier", 2).try_arrive_and_wait({.timeout = forever}, stop);
    });
  }
  ~full_house() { stop.request_stop(); }
  full_house(const full_house&) = delete;
  full_house& operator=(const full_house&) = delete;

 private:
  client first;
  lease holds, reads;
  semaphore pool;
  lease permit, vote;
  latch gate;
  lease leads;
  std::stop_source stop;
  std::vector<std::jthread> waits;
};

// What must be among the keys of a full house; "" stands for the prefix, {N} for a number.
const std::vector<std::string> seen_at_least = {
    "{mutex}",           "{mutex}:w",     "{mutex}:i",   "{rw}",         "{rw}:w",
    "{semaphore}",       "{semaphore}:n", "q:{quorum}",  "q:{quorum}:w", "{latch}",
    "{latch}:w",         "{barrier}",     "{barrier}:w", "{value}:v",    "{election}",
    "counter:{counter}", "rate:{rate}",   "ids:{ids}",   "audit",        "waits",
    "client:",           "fence:{",       "q:fence:{",   "once:{",       "fenced:{"};

// Its tenant, by its name.
std::string owner_of(const std::string& name) {
  for (const std::string tenant : {"blue", "green"}) {
    if (name.starts_with(key_space{tenant}.prefix())) return tenant;
  }
  EXPECT_TRUE(name.starts_with("hf:")) << name;
  return {};
}

// A command as the server's users send it, or a script of theirs; the versions of servers have
// different words for it.
void expect_refused(support::raw_connection& attacker, const std::vector<std::string>& words) {
  const auto said = attacker.command(words);
  const auto is_there = [&](const char* word) { return said.text.find(word) != said.text.npos; };
  const bool is_refusal = is_there("NOPERM") || is_there("can't access") ||
                          is_there("can't publish") || is_there("No permissions");
  EXPECT_TRUE(said.is(resp::type::error) && is_refusal)
      << words.front() << ' ' << words.back() << ": " << said.text;
}

void attack_key(support::raw_connection& attacker, const std::string& key) {
  for (const auto* const word : {"GET", "HGETALL", "PTTL", "EXISTS", "ZCARD", "DEL"}) {
    expect_refused(attacker, {word, key});
  }
  expect_refused(attacker, {"ZRANGE", key, "0", "-1"});
  expect_refused(attacker, {"SET", key, "x"});
  expect_refused(attacker, {"PEXPIRE", key, "1"});
  expect_refused(attacker, {"EVAL", "return redis.call('GET', KEYS[1])", "1", key});
  expect_refused(attacker, {"EVAL", "return redis.call('DEL', ARGV[1])", "0", key});
}

void attack_channel(support::raw_connection& attacker, const std::string& channel) {
  expect_refused(attacker, {"PUBLISH", channel, "wanted x"});
  expect_refused(attacker, {"EVAL", "return redis.call('PUBLISH', ARGV[1], 'x')", "0", channel});
  expect_refused(attacker, {"SUBSCRIBE", channel});
}

// Nor can those who have no tenant, as all had before there were any.
TEST_P(Tenants, ReachNothingOfEachOther) {
  std::vector<std::unique_ptr<full_house>> all;
  std::set<std::string> known_keys;
  for (const std::string tenant : {"blue", "green", ""}) {
    auto options = options_of(tenant);
    options.detect_deadlocks = true;
    const client one{server().url(), options}, other{server().url(), options};
    all.push_back(std::make_unique<full_house>(one, other));
    for (const auto& name : seen_at_least) {
      const auto is_there = [&] {
        const auto now = keys();
        known_keys.insert(now.begin(), now.end());
        return std::ranges::any_of(known_keys, [&](const auto& key) {
          return key.starts_with(key_space{tenant}.prefix() + name);
        });
      };
      EXPECT_TRUE(eventually(is_there)) << tenant << ": " << name;
    }
  }
  std::erase_if(known_keys, is_of_an_application);
  const auto known_channels = channels();
  EXPECT_EQ(known_channels.size(), 6U);
  for (const std::string tenant : {"blue", "green", ""}) {
    SCOPED_TRACE("as " + user_of(tenant));
    const auto attacker = connection_of(tenant);
    for (const auto& key : known_keys) {
      if (owner_of(key) != tenant) attack_key(*attacker, key);
    }
    for (const auto& channel : known_channels) {
      if (owner_of(channel) != tenant) attack_channel(*attacker, channel);
    }
  }
}

TEST_P(Tenants, HaveTwoLocksOfOneName) {
  const auto blue = client_of("blue"), green = client_of("green"), nobody = client_of("");
  const auto ours = blue.mutex("a").acquire();
  const auto theirs = green.mutex("a").acquire();
  const auto nobodys = nobody.mutex("a").acquire();
  EXPECT_TRUE(ours.held() && theirs.held() && nobodys.held());
  for (const auto& [who, held] :
       {std::pair{&blue, &ours}, {&green, &theirs}, {&nobody, &nobodys}}) {
    const auto seen = inspector{*who}.status("a");
    EXPECT_EQ(seen.name, "a");
    EXPECT_EQ(seen.token, held->token());
    const auto listed = inspector{*who}.list("*");
    ASSERT_EQ(listed.locks.size(), 1U);
    EXPECT_EQ(listed.locks.front().name, "a");
    EXPECT_EQ(listed.locks.front().token, held->token());
  }
  EXPECT_TRUE(all_of({blue.mutex("b"), green.mutex("b"), nobody.mutex("b")}).try_acquire());
  EXPECT_EQ(blue.counter("n").add(5), 5);
  EXPECT_EQ(green.counter("n").get(), 0);
}

// A waiter is told of its turn: on the tenant's channel, and of the lock by the name that it knows.
TEST_P(Tenants, AreToldOfTheirTurn) {
  const auto one = client_of("blue"), other = client_of("blue");
  auto held = one.mutex("a").acquire();
  const auto asked_before = server().calls("evalsha");
  auto waiting = std::async(std::launch::async, [&] {
    return other.mutex("a").try_acquire({.timeout = support::generous});
  });
  ASSERT_TRUE(eventually([&] { return inspector{one}.status("a").waiting == 1; }));
  ASSERT_TRUE(held.release());
  const auto got = waiting.get();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_EQ(got->name(), "a");
  EXPECT_GT(server().calls("evalsha"), asked_before);
  EXPECT_THAT(channels(), ::testing::Each(::testing::StartsWith("hf:@blue:c:")));
}

TEST_P(Tenants, HearOfDeadlocksByTheNamesOfTheirLocks) {
  auto options = options_of("blue");
  options.detect_deadlocks = true;
  const client one{server().url(), options}, other{server().url(), options};
  std::latch both_have_one{2};
  // Returns what the caller was told, where it was the one to be told.
  const auto takes = [&](const client& redis, const std::string& first, const std::string& second) {
    const auto has = redis.mutex(first).acquire();
    both_have_one.arrive_and_wait();
    const auto wanted = redis.mutex(second).try_acquire({.timeout = support::generous});
    if (wanted) return std::string();
    expect_failure(wanted, errc::would_deadlock, "waits for '" + second + "'");
    return why_not(wanted);
  };
  auto other_told = std::async(std::launch::async, takes, std::cref(other), "b", "a");
  auto told = takes(one, "a", "b");
  told += other_told.get();
  EXPECT_THAT(told, ::testing::HasSubstr("waits for"));
  EXPECT_THAT(told, ::testing::Not(::testing::HasSubstr("blue")));
}

TEST_P(Tenants, ObserveTheirOwnElection) {
  const auto blue = client_of("blue"), green = client_of("green");
  const auto leads = blue.election("a").acquire();
  ASSERT_TRUE(blue.election("a").leader());
  EXPECT_EQ(blue.election("a").leader()->token, leads.token());
  EXPECT_FALSE(green.election("a").leader());
  std::promise<bool> told;
  const auto seen = blue.election("a").observe(
      [&](const std::optional<leader>& who) { told.set_value(bool{who}); });
  EXPECT_TRUE(told.get_future().get());
}

TEST_P(Tenants, PassDoctor) {
  const auto blue = client_of("blue");
  for (const auto& found : inspector{blue}.diagnose()) {
    EXPECT_NE(found.level, finding::severity::problem) << found.check << ": " << found.detail;
    if (found.check == "publish") {
      EXPECT_EQ(found.level, finding::severity::ok) << found.detail;
    }
    if (found.check == "kinds") {
      EXPECT_THAT(found.detail, ::testing::Not(::testing::HasSubstr("may not use")));
    }
  }
  EXPECT_THAT(keys(), ::testing::Each(::testing::StartsWith("hf:@blue:")));
}

template <typename Act>
void expect_thrown(errc reason, const std::string& explanation, const Act& act) {
  try {
    act();
    ADD_FAILURE() << "nothing was thrown: " << explanation;
  } catch (const failure& refused) {
    EXPECT_EQ(refused.reason(), reason) << refused.what();
    EXPECT_THAT(refused.what(), ::testing::HasSubstr(explanation));
  }
}

TEST_P(Tenants, HaveNoLocksOfOtherLibraries) {
  const auto blue = client_of("blue");
  const auto refused = [&](const auto& act) {
    expect_thrown(errc::unsupported, "not for a client of a tenant ('blue')", act);
  };
  const auto theirs = dialect::redisson();
  refused([&] { (void)blue.mutex("a", {}, theirs); });
  refused([&] { (void)blue.mutex("a", {}, dialect::redis_py()); });
  refused([&] { (void)blue.recursive_mutex("a", {}, theirs); });
  refused([&] { (void)blue.read_write_lock("a", {}, theirs); });
  refused([&] { (void)blue.semaphore("a", {}, theirs); });
  refused([&] { (void)blue.latch("a", theirs); });
  refused([&] {
    (void)quorum{{blue}}.mutex("a", {},
                               dialect::redlock({.library = redlock_library::node_redlock}));
  });
  refused([&] { (void)inspector{blue}.status("a", theirs); });
  refused([&] { (void)inspector{blue}.list_all_dialects(); });
  EXPECT_THAT(keys(), ::testing::IsEmpty());
}

TEST_P(Tenants, AreOneInAQuorum) {
  const auto other = start();
  const client at_another{other.url(), [] {
                            client_options options;
                            options.tenant = "green";
                            return options;
                          }()};
  expect_thrown(errc::invalid_argument, "the same client_options::tenant", [&] {
    (void)quorum{{client_of("blue"), at_another}};
  });
  expect_thrown(errc::invalid_argument, "the same client_options::tenant", [&] {
    (void)quorum_inspector{{client_of("blue"), at_another}};
  });
}

TEST(Tenant, WithABadNameIsRefusedAtOnce) {
  client_options options;
  options.tenant = "a:b";
  expect_thrown(errc::invalid_argument, "'a:b' must be 1 to 64 letters",
                [&] { const client none("redis://127.0.0.1:1", options); });
  expect_thrown(errc::invalid_argument, "'a b' must be",
                [] { (void)access_rights_for("*", {}, "a b"); });
}

// Nothing of a tenant matches what others have, whatever their patterns.
TEST(Tenant, HasRightsToItsOwnAlone) {
  for (const auto& right : access_rights_for("*", all_kinds(), "blue").needed) {
    const bool names = right.starts_with('~') || right.starts_with('&');
    EXPECT_TRUE(!names || right == "~*" || right.substr(1).starts_with("hf:@blue:")) << right;
  }
  for (const auto& right : access_rights_for("*", all_kinds()).needed) {
    const bool names = right.starts_with('~') || right.starts_with('&');
    EXPECT_TRUE(!names || right.find('@') == right.npos) << right;
  }
}

}  // namespace
}  // namespace holdfast::faults
