// Logins that end while clients work: client_options::credentials.
#include <future>
#include <optional>
#include <thread>

#include "faults/faulty_server.hpp"
#include "faults/on_cluster.hpp"
#include "faults/token_service.hpp"
#include "support/fake_server.hpp"
#include "support/forked.hpp"
#include "support/library_threads.hpp"

namespace holdfast::faults {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What the callback does, which a test changes. The callback owns it too: it may outlive the test.
class script {
 public:
  using step = std::function<login()>;
  explicit script(step first) { set(std::move(first)); }

  void set(step next) {
    const std::lock_guard lock(shared_->guard);
    shared_->now = std::move(next);
  }
  int asked() const { return shared_->asked; }

  std::function<login()> callback() {
    return [shared = shared_] {
      ++shared->asked;
      step now;
      {
        const std::lock_guard lock(shared->guard);
        now = shared->now;
      }
      return now();
    };
  }

 private:
  struct state {
    std::atomic<int> asked{0};
    std::mutex guard;
    step now;
  };
  const std::shared_ptr<state> shared_ = std::make_shared<state>();
};

// A callback that does not return before the test lets it.
class gate {
 public:
  void open() { opened_.set_value(); }
  script::step before(login then) {
    return [open = opened_.get_future().share(), then = std::move(then)] {
      open.wait();
      return then;
    };
  }

 private:
  std::promise<void> opened_;
};

script::step throwing(const std::string& what) {
  return [what]() -> login { throw std::runtime_error(what); };
}

class Credentials : public fault_test {
 protected:
  static void give(const private_server& server, const std::string& right) {
    ASSERT_EQ(server.command({"ACL", "SETUSER", "worker", right}).text, "OK");
  }
  private_server server_with_worker() const {
    auto server = start({.tcp = true});
    for (const std::string right : {"on", "~*", "&*", "+@all"}) give(server, right);
    give(server, std::string(">") + password);
    return server;
  }
  static login good(milliseconds valid_for = 0ms) {
    return {.username = "worker", .password = password, .valid_for = valid_for};
  }
  static login bad(milliseconds valid_for = 0ms) {
    return {.username = "worker", .password = "hunter2-wrong", .valid_for = valid_for};
  }
  static bool is_in(const private_server& server, const std::string& user) {
    return server.command({"CLIENT", "LIST"}).text.find("user=" + user + " ") != std::string::npos;
  }

  const std::shared_ptr<tally> seen_ = std::make_shared<tally>();
};
HOLDFAST_ON_EACH_SERVER(Credentials);

// Threads of `clients` take these locks until `meanwhile` is over.
void work(const std::vector<client>& clients, const std::vector<std::string>& names,
          const std::function<void()>& meanwhile) {
  std::vector<std::jthread> threads;
  for (const auto& one : clients) {
    for (const auto& name : names) {
      threads.emplace_back([&one, &name](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          const auto got = one.mutex(name).try_acquire({.timeout = support::generous});
          EXPECT_TRUE(got) << why_not(got);
        }
      });
    }
  }
  meanwhile();
}

TEST_P(Credentials, TokensThatEndUnderLoadLoseNothing) {
  const auto server = start();
  token_service tokens({&server}, 300ms);
  const auto connect = [&] {
    return client{server.url(),
                  {.default_lease = 1s, .credentials = tokens.callback(), .observer = seen_}};
  };
  const std::vector<client> clients = {connect(), connect()};
  const auto held = clients[0].mutex("held").acquire();
  work(clients, {"a", "b"}, [&] {
    EXPECT_TRUE(eventually([&] {
      tokens.end_what_is_over();
      return tokens.ended() >= 5;
    }));
  });
  EXPECT_TRUE(held.held());
  EXPECT_EQ(seen_->lost, 0);
  EXPECT_EQ(seen_->reconnected, 0) << "a connection has kept a login that has ended";
  EXPECT_EQ(seen_->failed_logins, 0) << seen_->detail();
  EXPECT_FALSE(tokens.overlaps());
}

HOLDFAST_ON_EACH_SERVER(OnCluster);

TEST_P(OnCluster, EachMasterIsToldTheNewToken) {
  auto servers = start_cluster({.masters = 2});
  token_service tokens({&servers.node(0), &servers.node(1)}, 300ms);
  const auto seen = std::make_shared<tally>();
  auto options = patient();
  options.credentials = tokens.callback();
  options.observer = seen;
  const client redis{servers.url(), options};
  const auto names = names_of_each(servers, 2);
  std::vector<lease> held;
  for (const auto& name : names) held.push_back(redis.mutex(name + " held").acquire());
  work({redis}, names, [&] {
    EXPECT_TRUE(eventually([&] {
      tokens.end_what_is_over();
      return tokens.ended() >= 2;
    }));
  });
  for (const auto& one : held) EXPECT_TRUE(one.held());
  EXPECT_EQ(seen->lost, 0);
  EXPECT_EQ(seen->reconnected, 0) << "a connection has kept a login that has ended";
  EXPECT_EQ(seen->failed_logins, 0) << seen->detail();
}

TEST_P(Credentials, AreNotAskedBeforeAConnectionIsWanted) {
  const auto server = server_with_worker();
  script says([] { return good(); });
  {
    const client redis{server.url(), {.response_timeout = 300ms, .credentials = says.callback()}};
    EXPECT_EQ(says.asked(), 0);
    EXPECT_TRUE(redis.mutex("a").try_acquire());
    EXPECT_EQ(says.asked(), 1);
    server.command({"CLIENT", "KILL", "USER", "worker"});
    EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = support::generous}));
    EXPECT_EQ(says.asked(), 1) << "a login without an end is good until it is refused";
  }
  EXPECT_TRUE(support::library_threads_end());
}

TEST_P(Credentials, ThatAreNoneFailTheCallWithTheirText) {
  const auto server = server_with_worker();
  script says(throwing("the token service is down\n"));
  const client redis{server.url(), {.credentials = says.callback(), .observer = seen_}};
  const auto lock = redis.mutex("a");
  expect_failure(lock.try_acquire(), errc::authentication, "the token service is down\\n");
  says.set([] { return login{.username = "worker"}; });
  EXPECT_TRUE(eventually([&] { return seen_->detail().ends_with("it gave no password"); }));
  says.set([]() -> login { throw 1; });
  EXPECT_TRUE(eventually([&] { return seen_->detail().find("no std::exception") != 0; }));
  says.set([] { return good(-1ms); });
  EXPECT_TRUE(eventually([&] { return seen_->detail().ends_with("has ended already"); }));
  says.set([] { return good(); });
  EXPECT_TRUE(eventually([&] { return bool(lock.try_acquire()); }));
  EXPECT_EQ(seen_->server(), "");
}

TEST_P(Credentials, OldLoginServesWhileThereIsNoNewOne) {
  const auto server = server_with_worker();
  script says([] { return good(200ms); });
  const client redis{
      server.url(), {.response_timeout = 300ms, .credentials = says.callback(), .observer = seen_}};
  const auto held = redis.mutex("held", {.lease = 2s}).acquire();
  says.set(throwing("no more tokens"));
  EXPECT_TRUE(eventually([&] { return seen_->failed_logins >= 3; }));
  EXPECT_THAT(seen_->detail(), HasSubstr("no more tokens"));
  server.command({"CLIENT", "KILL", "USER", "worker"});
  EXPECT_TRUE(redis.mutex("a").try_acquire({.timeout = support::generous})) << "by the old one";
  EXPECT_TRUE(held.held());
  server.command(
      {"ACL", "SETUSER", "other", "on", ">" + std::string(password), "~*", "&*", "+@all"});
  says.set([] { return login{.username = "other", .password = password}; });
  EXPECT_TRUE(eventually([&] { return is_in(server, "other") && !is_in(server, "worker"); }));
  EXPECT_TRUE(held.held());
}

TEST_P(Credentials, RefusedLoginIsToldAndTheConnectionLives) {
  const auto server = server_with_worker();
  script says([] { return good(200ms); });
  const client redis{server.url(), {.credentials = says.callback(), .observer = seen_}};
  const auto held = redis.mutex("held").acquire();
  says.set([] { return bad(200ms); });
  EXPECT_TRUE(eventually([&] {
    const bool says_why = seen_->detail().find("WRONGPASS") != std::string::npos;
    return says_why && seen_->failed_logins >= 2;
  })) << "it is asked again, not "
      << seen_->failed_logins << " times: " << seen_->detail();
  EXPECT_THAT(seen_->detail(), Not(HasSubstr("hunter2")));
  EXPECT_EQ(seen_->server(), server.socket());
  const auto got = redis.mutex("a").try_acquire();
  EXPECT_TRUE(got) << why_not(got);
  const auto asked = says.asked();
  says.set([] { return good(); });
  EXPECT_TRUE(eventually([&] { return says.asked() > asked; }));
  EXPECT_TRUE(redis.mutex("b").try_acquire());
  EXPECT_EQ(seen_->reconnected, 0);
}

// Newer servers do not answer an AUTH that they refuse behind other commands. The answers to those
// must not be taken for others.
TEST_P(Credentials, RefusedLoginsUnderLoadDisturbNobody) {
  const auto server = server_with_worker();
  script says([] { return good(200ms); });
  const std::vector<client> clients = {
      {server.url(), {.default_lease = 1s, .credentials = says.callback(), .observer = seen_}}};
  const auto held = clients[0].mutex("held").acquire();
  says.set([] { return bad(200ms); });
  work(clients, {"a", "b", "c", "d"},
       [&] { EXPECT_TRUE(eventually([&] { return seen_->failed_logins >= 4; })); });
  EXPECT_TRUE(held.held());
  EXPECT_EQ(seen_->lost, 0);
  EXPECT_EQ(seen_->reconnected, 0);
}

// It is asked for as often as the pauses allow, not as fast as the server answers.
TEST_P(Credentials, RefusedLoginsAreAskedForWithPauses) {
  const auto server = server_with_worker();
  script says([] { return good(200ms); });
  const client redis{server.url(), {.credentials = says.callback(), .observer = seen_}};
  const auto held = redis.mutex("held").acquire();
  const auto started = net::now();
  says.set([] { return bad(); });
  EXPECT_TRUE(eventually([&] { return seen_->failed_logins >= 3; }));
  EXPECT_GE(net::now() - started, 300ms) << "100 ms after the first, 200 ms after the second";
}

// Nobody told the client: the callback said that the login has no end.
TEST_P(Credentials, RevokedLoginIsReplacedWithinTheLogIn) {
  const auto server = server_with_worker();
  script says([] { return good(); });
  const client redis{server.url(), {.response_timeout = 300ms, .credentials = says.callback()}};
  const auto held = redis.mutex("held").acquire();
  says.set([] { return login{.username = "worker", .password = "hunter3"}; });
  give(server, "resetpass");
  give(server, ">hunter3");
  server.command({"CLIENT", "KILL", "USER", "worker"});
  const auto got = redis.mutex("a").try_acquire({.timeout = support::generous});
  EXPECT_TRUE(got) << why_not(got);
  EXPECT_TRUE(held.held());
  EXPECT_EQ(says.asked(), 2);
}

TEST_P(Credentials, WrongOnesAreToldOnceTheyHaveBeenAskedForAgain) {
  const auto server = server_with_worker();
  script says([] { return bad(); });
  const client redis{server.url(), {.credentials = says.callback()}};
  expect_failure(redis.mutex("a").try_acquire(), errc::authentication, "WRONGPASS");
  EXPECT_EQ(says.asked(), 2);
  says.set(throwing("out of tokens"));
  EXPECT_TRUE(eventually([&] {
    const auto got = redis.mutex("a").try_acquire();
    return why_not(got).find("out of tokens") != std::string::npos;
  })) << "why there is no better login belongs to the refusal";
}

TEST_P(Credentials, ThatBlockDelayNobodyWhoHasALogin) {
  const auto server = server_with_worker();
  gate slow;
  script says([] { return good(200ms); });
  const client redis{server.url(), {.credentials = says.callback(), .observer = seen_}};
  const auto held = redis.mutex("held", {.lease = 200ms}).acquire();
  says.set(slow.before(good()));
  ASSERT_TRUE(eventually([&] { return says.asked() == 2; }));
  const auto asked_at = net::now();
  EXPECT_TRUE(eventually([&] { return net::now() > asked_at + 600ms; })) << "three leases";
  EXPECT_TRUE(held.held());
  EXPECT_TRUE(redis.mutex("a").try_acquire());
  const auto authentications = server.calls("auth");
  slow.open();
  EXPECT_TRUE(eventually([&] { return server.calls("auth") > authentications; }));
  EXPECT_EQ(seen_->lost, 0);
}

TEST_P(Credentials, AreWaitedForAsLongAsConnectingMayTake) {
  const auto server = server_with_worker();
  gate slow;
  script says(slow.before(good()));
  const client redis{server.url(), {.connect_timeout = 200ms, .credentials = says.callback()}};
  const auto lock = redis.mutex("a");
  expect_failure(lock.try_acquire(), errc::unavailable, "has not given a login within");
  slow.open();
  EXPECT_TRUE(lock.try_acquire({.timeout = support::generous}));
  EXPECT_EQ(says.asked(), 1);
}

TEST_P(Credentials, EndOfTheClientWaitsForThemWithinABound) {
  const auto server = server_with_worker();
  gate slow;
  script says([] { return good(200ms); });
  auto redis = std::make_optional<client>(
      server.url(), client_options{.response_timeout = 300ms, .credentials = says.callback()});
  ASSERT_TRUE(redis->mutex("a").try_acquire());
  says.set(slow.before(good()));
  ASSERT_TRUE(eventually([&] { return says.asked() == 2; }));
  const auto started = net::now();
  redis.reset();
  EXPECT_GE(net::now() - started, 150ms) << "it may use what goes next";
  EXPECT_LT(net::now() - started, 10s);
  EXPECT_EQ(support::library_threads(), 1U);
  slow.open();
  EXPECT_TRUE(support::library_threads_end());
}

TEST_P(Credentials, CallThatIsClosedMeanwhileEnds) {
  const auto server = server_with_worker();
  gate slow;
  script says(slow.before(good()));
  auto options = patient();
  options.response_timeout = 100ms;
  options.credentials = says.callback();
  auto redis = std::make_optional<client>(server.url(), options);
  {
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&, lock = redis->mutex("a")]() mutable {
      return lock.try_acquire({.timeout = support::generous}, stop.get_token());
    });
    ASSERT_TRUE(eventually([&] { return says.asked() == 1; }));
    stop.request_stop();
    EXPECT_FALSE(waiting.get());
  }
  const auto started = net::now();
  redis.reset();
  EXPECT_LT(net::now() - started, 10s) << "the log-in does not wait for a login any more";
  slow.open();
  EXPECT_TRUE(support::library_threads_end());
}

TEST_P(Credentials, ChildOfAForkWaitsForNoCallback) {
  if (!support::allocator_survives_fork) GTEST_SKIP();
  const auto server = server_with_worker();
  gate slow;
  script says([] { return good(200ms); });
  auto redis =
      std::make_optional<client>(server.url(), client_options{.credentials = says.callback()});
  ASSERT_TRUE(redis->mutex("a").try_acquire());
  says.set(slow.before(good()));
  ASSERT_TRUE(eventually([&] { return says.asked() == 2; }));
  support::forked child([&](const support::forked::teller& to) {
    redis.reset();
    const client own{server.url(), {.credentials = [] { return good(); }}};
    to.tell(own.mutex("a").try_acquire({.timeout = support::generous}) ? "locked" : "refused");
  });
  EXPECT_EQ(child.heard(), "locked");
  EXPECT_EQ(child.wait(), 0);
  slow.open();
  EXPECT_TRUE(redis->mutex("b").try_acquire());
}

// An access that is taken back while the connection is there: some proxies do it.
TEST(LoggedOut, ConnectionIsLoggedInAgain) {
  std::atomic<bool> is_out{false};
  support::fake_server server([&](const auto& words) -> std::optional<support::fake_server::reply> {
    if (words.at(0) == "AUTH") {
      is_out = false;
      return support::fake_server::answer("+OK\r\n");
    }
    if (is_out && words.at(0) == "EVALSHA") {
      return support::fake_server::error("NOAUTH Authentication required.");
    }
    return std::nullopt;
  });
  script says([] { return login{.password = password}; });
  const client redis{server.url(), {.credentials = says.callback()}};
  (void)redis.mutex("a").try_acquire();
  const auto before = server.received("AUTH");
  is_out = true;
  EXPECT_FALSE(redis.mutex("a").try_acquire());
  EXPECT_TRUE(eventually([&] { return !is_out; }));
  EXPECT_EQ(server.received("AUTH"), before + 1);
  EXPECT_EQ(says.asked(), 2);
}

TEST(CredentialOptions, OnePasswordComesFromOnePlace) {
  try {
    const client redis{"redis://127.0.0.1:1",
                       {.password_file = "/nowhere", .credentials = [] { return login{}; }}};
    FAIL();
  } catch (const failure& refused) {
    EXPECT_EQ(refused.reason(), errc::invalid_argument);
    EXPECT_THAT(refused.what(), HasSubstr("password_file"));
  }
}

}  // namespace
}  // namespace holdfast::faults
