// What a user of the server can do to locks to which it has no rights. The attacker has exactly the
// rights that `holdfast acl` prints for other locks. docs/security.md lists what is tried here.
#include <future>
#include <string>
#include <vector>

#include "faults/faulty_server.hpp"
#include "net/clock.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::faults {
namespace {

class CoTenant : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_ = std::make_unique<private_server>(start());
    give("bank", {"payments:*"});
    give("shop", {"orders:*"});
    give("app", {"payments:*", "orders:*"});
    attacker_ = std::make_unique<support::raw_connection>(net::unix_endpoint{server_->socket()});
    EXPECT_EQ(attacker_->command({"AUTH", "shop", password}).text, "OK");
  }

  client client_of(const char* user) const {
    auto options = patient();
    options.username = user;
    options.password = password;
    return client{server_->url(), options};
  }
  const private_server& server() const { return *server_; }
  resp::value attack(const std::vector<std::string>& words) { return attacker_->command(words); }

  // The attacker sees the request id of this one, since it has rights to that lock.
  std::string owner_of(const std::string& name) {
    const auto value = attack({"GET", value_key(name)}).text;
    return value.substr(value.rfind(':') + 1);
  }
  std::uint64_t micros() {
    const auto time = attack({"TIME"}).items;
    return std::stoull(time.at(0).text) * 1'000'000 + std::stoull(time.at(1).text);
  }
  // The ids of the requests that this client makes next.
  static std::vector<std::string> following(const std::string& owner) {
    const auto dash = owner.find('-');
    const auto counter = std::stoull(owner.substr(dash + 1), nullptr, 16);
    std::vector<std::string> all;
    for (std::uint64_t next = counter + 1; next < counter + 5; ++next) {
      std::array<char, 17> text{};
      (void)std::snprintf(text.data(), text.size(), "%llx", static_cast<unsigned long long>(next));
      for (const char* end : {"", "r"})
        all.push_back(owner.substr(0, dash + 1) + text.data() + end);
    }
    return all;
  }
  void tell(const std::string& request, const std::string& message) {
    EXPECT_EQ(attack({"PUBLISH", "hf:c:" + request.substr(0, 32), message}).number, 1);
  }
  // A message that a lock was handed to this request. `proof`: with a space behind it, or nothing.
  std::string grant_of(const std::string& name, const std::string& request, std::uint64_t major,
                       const std::string& proof) {
    return "grant " + request + ' ' + std::to_string(major) + " 1000 " + std::to_string(micros()) +
           ' ' + proof + value_key(name);
  }
  // Returns when the client has acted on all that it was told before: the answer to its first
  // question comes behind that, on the same connection, and its second question behind what it sent
  // because of that.
  static void hear_out(const client& told) {
    EXPECT_TRUE(told.mutex("orders:behind").acquire().release());
  }
  static constexpr std::int64_t questions_of_hear_out = 2;
  // For the lock that the attacker has no rights to. `who` must outlive it.
  static std::future<result<lease>> begin_to_wait(const client& who) {
    return std::async(std::launch::async, [&who] {
      return who.mutex("payments:1").try_acquire({.timeout = support::generous});
    });
  }
  // How many scripts the server has run, but for those of the index of held locks, which alone call
  // the last of these commands.
  std::int64_t questions() const {
    const auto told = server().command({"INFO", "commandstats"}).text;
    const auto calls = [&](const std::string& of) {
      return support::number_behind("cmdstat_" + of + ":calls=", told);
    };
    return calls("eval") + calls("evalsha") - calls("zrevrangebyscore");
  }
  // How often the first of a queue may have asked of its own accord.
  static std::int64_t asked_anyway_since(monotonic_time began) {
    return (net::now() - began) / 2s + 1;
  }
  bool is_free(const std::string& name) const {
    return server().command({"EXISTS", value_key(name)}).number == 0;
  }
  // `REQUEST:CLAIM:WAY` and the proof, of the only one that waits. The attacker cannot read it.
  std::string place_of_waiter(const std::string& name) const {
    return server().command({"ZRANGE", value_key(name) + ":w", "0", "0"}).items.at(0).text;
  }
  bool waits(const std::string& name, std::int64_t many) const {
    return eventually([&] {
      return server().command({"ZCARD", value_key(name) + ":w"}).number == many;
    });
  }

 private:
  void give(const char* user, const std::vector<std::string>& patterns) const {
    std::vector<std::string> words{"ACL",   "SETUSER", user,
                                   "reset", "on",      std::string(">") + password};
    for (const auto& pattern : patterns) {
      const auto rights = access_rights_for(pattern, {"mutex", "counter"}).needed;
      for (const auto& one : rights) {
        const bool is_again = one == "resetchannels" && pattern != patterns.front();
        if (!is_again) words.push_back(one);
      }
    }
    ASSERT_EQ(server_->command(words).text, "OK");
  }

  std::unique_ptr<private_server> server_;
  std::unique_ptr<support::raw_connection> attacker_;
};
HOLDFAST_ON_EACH_SERVER(CoTenant);

TEST_P(CoTenant, SeesNothingOfTheLockItself) {
  for (const std::string end : {"", ":w", ":i"}) {
    EXPECT_TRUE(attack({"GET", "hf:{payments:1}" + end}).text.starts_with("NOPERM"));
    EXPECT_TRUE(attack({"ZRANGE", "hf:{payments:1}" + end, "0", "-1"}).text.starts_with("NOPERM"));
  }
}

// Neither a lease nor a token nor a floor comes of it.
TEST_P(CoTenant, CannotForgeAGrant) {
  const auto bank = client_of("bank"), app = client_of("app");
  auto real = bank.mutex("payments:1").acquire();
  const auto order = app.mutex("orders:1").acquire();
  auto waiting = begin_to_wait(app);
  ASSERT_TRUE(waits("payments:1", 1));
  const auto now = micros();
  for (const auto& request : following(owner_of("orders:1"))) {
    for (const std::string word : {"grant", "shared", "opened", "complete"}) {
      for (const std::string proof : {"", "0 ", "0123456789abcdef "}) {
        for (const auto major : {now + 5, static_cast<std::uint64_t>(dialects::largest_major)}) {
          for (const std::string name : {"payments:1", "orders:2"}) {
            tell(request, word + ' ' + request + ' ' + std::to_string(major) + " 3600000 " +
                              std::to_string(micros()) + ' ' + proof + value_key(name));
          }
        }
      }
    }
  }
  hear_out(app);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  const auto before = real.token();
  EXPECT_TRUE(real.held());
  EXPECT_TRUE(real.release());
  const auto got = waiting.get();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_GT(got->token(), before);
  // A counter that is new begins so far ahead.
  const auto latest = micros() + 1'000'000 + dialects::longest_lead.count();
  EXPECT_LT(got->token().value(), latest * substrate::minors_per_major);
}

// The message is what the server would say, but for the proof. So is the last one, which has the
// proof from the queue and is believed, until the server is asked.
TEST_P(CoTenant, CannotForgeAGrantThatLacksTheProofAlone) {
  const auto bank = client_of("bank"), app = client_of("app");
  auto real = bank.mutex("payments:1").acquire();
  const auto order = app.mutex("orders:1").acquire();
  auto waiting = begin_to_wait(app);
  ASSERT_TRUE(waits("payments:1", 1));
  auto major = micros() + dialects::longest_lead.count() / 2;
  for (const auto& request : following(owner_of("orders:1"))) {
    for (const std::string proof : {"", "0 ", "0123456789abcdef "}) {
      tell(request, grant_of("payments:1", request, ++major, proof));
    }
  }
  hear_out(app);
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(real.held());
  const auto place = place_of_waiter("payments:1");
  const auto request = place.substr(0, place.find(':')), proof = place.substr(place.size() - 16);
  // On a busy machine one may come too late to be believed.
  ASSERT_TRUE(eventually([&] {
    tell(request, grant_of("payments:1", request, ++major, proof + ' '));
    return waiting.wait_for(20ms) == std::future_status::ready;
  }));
  const auto got = waiting.get();
  ASSERT_TRUE(got) << why_not(got);
  EXPECT_TRUE(eventually([&] { return !got->held(); }, 1s));
  EXPECT_TRUE(real.release());
}

TEST_P(CoTenant, MakesAWaiterAskOnceForEachMessage) {
  constexpr int messages = 10;
  const auto bank = client_of("bank"), app = client_of("app");
  auto real = bank.mutex("payments:1", {.lease = 10min}).acquire();
  const auto order = app.mutex("orders:1", {.lease = 10min}).acquire();
  auto waiting = begin_to_wait(app);
  ASSERT_TRUE(waits("payments:1", 1));
  const auto place = place_of_waiter("payments:1");
  const auto request = place.substr(0, place.find(':'));
  const auto began = net::now();
  const auto before = questions();
  for (int told = 1; told <= messages; ++told) {
    tell(request, "next " + request + " 0");
    EXPECT_TRUE(eventually([&] { return questions() >= before + told; }));
  }
  hear_out(app);
  EXPECT_LE(questions() - before, messages + questions_of_hear_out + asked_anyway_since(began));
  EXPECT_TRUE(real.release());
  EXPECT_TRUE(waiting.get());
}

// A waiter that is told again and again that it is the first, and has time, asks when it would have
// asked anyway.
TEST_P(CoTenant, CannotKeepAWaiterFromAsking) {
  const auto bank = client_of("bank"), app = client_of("app");
  const mutex_options fixed{.lease = 1s, .renewal = renewal::none};
  const auto dead = bank.mutex("payments:1", fixed).acquire();
  const auto order = app.mutex("orders:1").acquire();
  auto waiting = begin_to_wait(app);
  ASSERT_TRUE(waits("payments:1", 1));
  const auto requests = following(owner_of("orders:1"));
  // Longer than the whole lease; the waiter asks after that at the latest.
  const bool is_served = eventually(
      [&] {
        for (const auto& request : requests) tell(request, "next " + request + " 3600000");
        return waiting.wait_for(20ms) == std::future_status::ready;
      },
      10s);
  EXPECT_TRUE(is_served);
  EXPECT_TRUE(waiting.get());
}

// Locks of one server are not asked for because of it; a hint of a quorum's member makes ask once.
TEST_P(CoTenant, TellsNobodyThatALockIsFree) {
  const auto bank = client_of("bank"), app = client_of("app");
  auto real = bank.mutex("payments:1", {.lease = 10min}).acquire();
  auto order = app.mutex("orders:1", {.lease = 10min}).acquire();
  auto waiting = begin_to_wait(app);
  ASSERT_TRUE(waits("payments:1", 1));
  const auto began = net::now();
  const auto before = questions();
  for (const auto& request : following(owner_of("orders:1"))) tell(request, "free " + request);
  hear_out(app);
  EXPECT_LE(questions() - before, questions_of_hear_out + asked_anyway_since(began));
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  EXPECT_TRUE(real.held());
  EXPECT_TRUE(order.held());
  EXPECT_TRUE(real.release());
  EXPECT_TRUE(waiting.get());
}

// Of the same hash slot, until somebody deletes the counter: beyond what a token can have.
TEST_P(CoTenant, CanDenyALockUntilItsCounterIsDeleted) {
  const auto bank = client_of("bank");
  const auto mine = bank.mutex("payments:1");
  const auto before = mine.acquire().token();
  const auto counter = lock_key{"payments:1"}.fence_key();
  EXPECT_EQ(attack({"SET", counter, std::to_string(dialects::largest_major)}).text, "OK");
  expect_failure(mine.try_acquire({.timeout = 1s}), errc::clock_skew, counter);
  EXPECT_EQ(attack({"DEL", counter}).number, 1);
  const auto again = mine.try_acquire();
  ASSERT_TRUE(again) << why_not(again);
  EXPECT_GT(again->token(), before);
}

// A time to come is taken for a token that was given out, and the next ones are above it: so a
// client that has had one is refused when the counter is gone.
TEST_P(CoTenant, CanMakeTokensJump) {
  const auto bank = client_of("bank");
  const auto mine = bank.mutex("payments:1");
  const auto counter = lock_key{"payments:1"}.fence_key();
  const auto far = micros() * 2;
  EXPECT_EQ(attack({"SET", counter, std::to_string(far)}).text, "OK");
  auto held = mine.acquire();
  EXPECT_GT(held.token().value(), far * substrate::minors_per_major);
  EXPECT_TRUE(held.release());
  EXPECT_TRUE(mine.acquire().release());
  EXPECT_EQ(attack({"DEL", counter}).number, 1);
  expect_failure(mine.try_acquire(), errc::clock_skew, counter);
  EXPECT_TRUE(client_of("bank").mutex("payments:1").try_acquire());
}

// Anybody may have written a client's entry in the registry; the client's lock stays its own.
TEST_P(CoTenant, CanMislabelAClient) {
  const auto app = client_of("app");
  const auto order = app.mutex("orders:1").acquire();
  const auto client_id = owner_of("orders:1").substr(0, 32);
  const auto entry = "hf:client:" + client_id;
  ASSERT_TRUE(eventually([&] { return server().command({"EXISTS", entry}).number == 1; }));
  EXPECT_EQ(attack({"HSET", entry, "host", "elsewhere"}).number, 0);
  const client looks{server().url()};
  const auto seen = inspector{looks}.status("orders:1");
  EXPECT_EQ(seen.owner.host, "elsewhere");
  EXPECT_EQ(seen.token, order.token());
  EXPECT_TRUE(order.held());
}

TEST_P(CoTenant, CannotTakeBackWhatIsUsed) {
  const auto app = client_of("app");
  auto order = app.mutex("orders:1", {.retain = 60s}).acquire();
  const auto held = app.mutex("payments:1", {.retain = 60s}).acquire();
  auto requests = following(owner_of("orders:1"));
  requests.push_back(owner_of("orders:1"));
  for (const auto& request : requests) tell(request, "wanted " + request);
  hear_out(app);
  EXPECT_FALSE(is_free("payments:1"));
  EXPECT_FALSE(is_free("orders:1"));
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(order.held());
  EXPECT_TRUE(order.release());
}

// It goes back once, and its next grant is like any other.
TEST_P(CoTenant, CanHaveARetainedLockGivenBack) {
  const auto app = client_of("app");
  const auto order = app.mutex("orders:1", {.lease = 10min}).acquire();
  const auto requests = following(owner_of("orders:1"));
  const auto mine = app.mutex("payments:1", {.lease = 10min, .retain = 10min});
  auto kept = mine.acquire();
  const auto before = kept.token();
  EXPECT_TRUE(kept.release());
  hear_out(app);
  ASSERT_FALSE(is_free("payments:1"));
  const auto asked = questions();
  for (const auto& request : requests) tell(request, "wanted " + request);
  hear_out(app);
  EXPECT_TRUE(is_free("payments:1"));
  EXPECT_EQ(questions(), asked + 1 + questions_of_hear_out);
  const auto again = mine.acquire();
  EXPECT_GT(again.token(), before);
  for (const auto& request : requests) tell(request, "wanted " + request);
  hear_out(app);
  EXPECT_FALSE(is_free("payments:1"));
  EXPECT_TRUE(again.held());
  EXPECT_TRUE(order.held());
}

// Of the index of held locks, which only lists on big servers read.
TEST_P(CoTenant, CanHideALockFromTheIndex) {
  const auto bank = client_of("bank");
  auto held = bank.mutex("payments:1", {.lease = 10min}).acquire();
  const client looks{server().url()};
  const auto listed = [&](std::size_t most_scanned) {
    std::vector<std::string> names;
    const auto all = inspector{looks}.list("*", {.most_scanned = most_scanned});
    EXPECT_EQ(all.indexed, most_scanned == 0);
    for (const auto& lock : all.locks) names.push_back(lock.name);
    return names;
  };
  const std::vector<std::string> real{"payments:1"};
  ASSERT_TRUE(eventually([&] { return listed(0) == real; }));
  const auto far = std::to_string(micros());
  for (const std::string& name : {std::string{"nothing"}, std::string{"a\nb\0c", 5},
                                  std::string(100'000, 'x'), std::string{}}) {
    EXPECT_EQ(attack({"ZADD", "hf:held", far, name}).number, 1);
  }
  EXPECT_EQ(listed(0), real) << "what is not held is not shown";
  EXPECT_EQ(attack({"ZREM", "hf:held", "payments:1"}).number, 1);
  EXPECT_EQ(listed(0), std::vector<std::string>{});
  EXPECT_EQ(listed(1000), real) << "a search of all keys reads no index";
  EXPECT_EQ(attack({"SET", "hf:held", "something else"}).text, "OK");
  EXPECT_THROW((void)listed(0), failure);
  EXPECT_EQ(listed(1000), real);
  EXPECT_TRUE(held.extend(20min)) << "its holder does not need the index";
  EXPECT_TRUE(held.release());
}

// An answer that stands where the next change of a counter would be remembered.
TEST_P(CoTenant, CannotForgeWhatAChangeThatCountsOnceIsAnswered) {
  const auto app = client_of("app");
  const auto order = app.mutex("orders:1").acquire();
  const auto answers = "hf:once:{" + slot_tag(lock_key{"payments:1"}.slot()) + "}:";
  for (const auto& request : following(owner_of("orders:1"))) {
    for (const char* proof : {"", ":", ":0000000000000000"}) {
      EXPECT_EQ(attack({"SET", answers + request + proof, "ok 1000005"}).text, "OK");
    }
  }
  EXPECT_EQ(app.counter("payments:1").add(5), 5);
  EXPECT_EQ(server().command({"GET", "hf:counter:{payments:1}"}).text, "5");
}

}  // namespace
}  // namespace holdfast::faults
