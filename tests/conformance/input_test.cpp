// What callers may pass in: names of any bytes, durations in their ranges, addresses and passwords;
// and that everything else is refused as what it is.
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "conformance/conformance.hpp"

namespace holdfast::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

constexpr const char* password = "hunter2-correct-horse";

class Input : public mutex_test {
 protected:
  // Fails the test unless options like these are refused, with a message that names the one that is
  // wrong and its range.
  void expect_refused(const mutex_options& options, const std::string& why) const {
    expect_invalid([&] { (void)redis().mutex("a", options); }, why);
  }
  void expect_refused(const client_options& options, const std::string& why) const {
    expect_invalid([&] { const client made{server().url(), options}; }, why);
  }
  // The same for an acquisition, and for a lease that is to last so long.
  void expect_refused(const acquire_options& options, const std::string& why) const {
    expect_invalid([&] { (void)redis().mutex("a").acquire(options); }, why);
    expect_invalid([&] { (void)redis().mutex("a").try_acquire(options); }, why);
  }

  void expect_refused(lease& held, milliseconds duration, const std::string& why) const {
    expect_invalid([&] { (void)held.extend(duration); }, why);
  }

 private:
  template <typename Act>
  static void expect_invalid(const Act& act, const std::string& why) {
    const auto refused = thrown_by(act);
    EXPECT_EQ(refused.reason(), errc::invalid_argument);
    EXPECT_THAT(refused.what(), HasSubstr(why));
  }
};
HOLDFAST_ON_EACH_SERVER(Input);

// The documented encoding, written down once more: the tests do not trust the code under test.
std::string value_key(const std::string& name) {
  std::string key = "hf:{";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || c == '{' || c == '}' || c == '%') {
      key += '%';
      key += "0123456789ABCDEF"[byte / 16];
      key += "0123456789ABCDEF"[byte % 16];
    } else {
      key += c;
    }
  }
  return key + "}";
}

// Names that a careless encoding, a text function or a server's pattern would mix up.
std::vector<std::string> tricky_names() {
  return {"a",
          "A",
          " a",
          "a ",
          "a\n",
          "a\r\n",
          "a\0"s,
          "a\0b"s,
          "\0"s,
          "\0\0"s,
          "%00",
          "%",
          "%%",
          "%25",
          "%2525",
          "a%",
          "%7B",
          "%7b",
          "{",
          "}",
          "{}",
          "}{",
          "{a}",
          "{a",
          "a}",
          "a}:w",
          "a}:i",
          "{a}:w",
          "a:w",
          "hf:{a}",
          "fence:{0}",
          "*",
          "?",
          "[a]",
          "\\",
          "\"",
          "\x7f",
          "\x80",
          "\xff",
          "\xff\xfe",
          "\xc3\x28",
          "\xc3\xa9",
          "e\xcc\x81",
          "\xe9",
          "$-1\r\n",
          std::string(511, 'x'),
          std::string(512, 'x'),
          std::string(512, '{'),
          std::string(512, '}'),
          std::string(512, '\0'),
          std::string(512, '\xff')};
}

TEST_P(Input, NameMustHaveOneTo512Bytes) {
  for (const auto& name :
       {""s, std::string(513, 'x'), std::string(513, '\0'), std::string(1'000'000, 'x')}) {
    const auto why = thrown_by([&] { (void)redis().mutex(name); });
    EXPECT_EQ(why.reason(), errc::invalid_name) << name.size();
    EXPECT_LT(std::string(why.what()).size(), 400U) << "a message, not a copy of the name";
  }
}

TEST_P(Input, NamesOfAnyBytesAreLocksOfTheirOwn) {
  const auto other = another_client();
  std::vector<lease> all;
  for (const auto& name : tricky_names()) {
    auto got = redis().mutex(name).try_acquire();
    ASSERT_TRUE(got) << ::testing::PrintToString(name) << ": " << got.error().what();
    EXPECT_EQ(got->name(), name);
    all.push_back(std::move(*got));
  }
  for (auto& held : all) {
    const auto shown = ::testing::PrintToString(held.name());
    EXPECT_EQ(server().command({"EXISTS", value_key(held.name())}).number, 1) << shown;
    const auto second = other.mutex(held.name()).try_acquire();
    ASSERT_FALSE(second) << shown;
    EXPECT_EQ(second.error().reason(), errc::busy) << shown;
  }
  for (auto& held : all) {
    EXPECT_TRUE(held.release());
    const auto shown = ::testing::PrintToString(held.name());
    EXPECT_EQ(server().command({"EXISTS", value_key(held.name())}).number, 0) << shown;
  }
}

TEST_P(Input, RandomNamesNeverExcludeEachOther) {
  std::mt19937 random(11);
  const auto alphabet = "{}%\0aB725D:\xff"s;
  std::set<std::string> names;
  while (names.size() < 500) {
    std::string name;
    for (auto left = 1 + random() % 4; left > 0; --left) {
      name += alphabet[random() % alphabet.size()];
    }
    names.insert(name);
  }
  std::set<std::string> keys;
  std::vector<lease> all;
  for (const auto& name : names) {
    auto got = redis().mutex(name).try_acquire();
    ASSERT_TRUE(got) << ::testing::PrintToString(name) << ": " << got.error().what();
    all.push_back(std::move(*got));
    keys.insert(value_key(name));
  }
  EXPECT_EQ(keys.size(), names.size());
  for (const auto& key : keys) EXPECT_EQ(server().command({"EXISTS", key}).number, 1) << key;
}

TEST_P(Input, MessagesShowNoRawBytesOfAName) {
  const auto name = "\x1b[2J\r\n\0\xff"s;
  const auto held = redis().mutex(name).acquire();
  const std::string what = redis().mutex(name).try_acquire().error().what();
  for (const char c : what) EXPECT_TRUE(c >= ' ' && c <= '~') << ::testing::PrintToString(what);
}

TEST_P(Input, LeaseIsTenMillisecondsToADay) {
  auto held = redis().mutex("held").acquire();
  for (const auto bad : {9ms, 0ms, -1ms, milliseconds{24h + 1ms}, milliseconds{25h},
                         milliseconds::min(), milliseconds::max()}) {
    SCOPED_TRACE(bad.count());
    expect_refused(mutex_options{.lease = bad}, "lease must be 10 ms to 24 h");
    expect_refused(held, bad, "the duration must be 10 ms to 24 h");
    client_options options;
    options.default_lease = bad;
    expect_refused(options, "default_lease must be 10 ms to 24 h");
  }
  // A grant that comes too late to be believed is asked for again.
  const auto brief = redis().mutex("brief", {.lease = 10ms, .renewal = renewal::none});
  EXPECT_TRUE(brief.try_acquire({.timeout = generous}));
  const auto day = redis().mutex("long", {.lease = 24h}).acquire();
  EXPECT_GT(day.remaining(), 23h);
}

TEST_P(Input, NegativeTimeoutIsRefusedByEveryVerb) {
  for (const auto bad : {-1ms, milliseconds{-1h}, milliseconds::min()}) {
    SCOPED_TRACE(bad.count());
    expect_refused(acquire_options{.timeout = bad}, "timeout must be 0 or more");
    client_options options;
    options.default_timeout = bad;
    expect_refused(options, "default_timeout must be 0 or more");
  }
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}"}).number, 0);
}

task<> await_lease(lock target, milliseconds timeout) {
  (void)co_await target.async_acquire({.timeout = timeout});
}
task<> await_result(lock target, milliseconds timeout) {
  (void)co_await target.async_try_acquire({.timeout = timeout});
}

TEST_P(Input, NegativeTimeoutIsRefusedByTheAwaitedVerbsToo) {
  const auto lock = redis().mutex("a");
  EXPECT_EQ(thrown_by([&] { sync_wait(await_lease(lock, -1ms)); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(thrown_by([&] { sync_wait(await_result(lock, -1ms)); }).reason(),
            errc::invalid_argument);
  EXPECT_EQ(server().command({"EXISTS", "hf:{a}"}).number, 0);
}

TEST_P(Input, HugeTimeoutsAreAsGoodAsNone) {
  for (const auto huge : {milliseconds{24h * 365 * 100}, milliseconds::max() - 1ms, forever}) {
    EXPECT_TRUE(redis().mutex("a").acquire({.timeout = huge}).release()) << huge.count();
  }
}

TEST_P(Input, RetainHasItsRangeAndItsCompany) {
  expect_refused(mutex_options{.retain = -1ms}, "retain must be 0 to 1 h");
  expect_refused(mutex_options{.retain = 1h + 1ms}, "retain must be 0 to 1 h");
  const auto alone = "retain must be 0 with fair or renewal::none";
  expect_refused(mutex_options{.fair = true, .retain = 1ms}, alone);
  expect_refused(mutex_options{.renewal = renewal::none, .retain = 1ms}, alone);
  EXPECT_TRUE(redis().mutex("a", {.fair = true}).try_acquire());
  EXPECT_TRUE(redis().mutex("b", {.retain = 1h}).try_acquire());
}

TEST_P(Input, ClientOptionsHaveTheirRanges) {
  const auto refused = [&](auto member, auto value, const std::string& why) {
    client_options options;
    options.*member = value;
    expect_refused(options, why);
  };
  for (const auto bad :
       {0ms, -1ms, milliseconds{10min + 1ms}, milliseconds::max(), milliseconds::min()}) {
    SCOPED_TRACE(bad.count());
    refused(&client_options::connect_timeout, bad, "connect_timeout must be 1 ms to 10 min");
    refused(&client_options::response_timeout, bad, "response_timeout must be 1 ms to 10 min");
  }
  for (const auto bad :
       {-1us, std::chrono::microseconds{1s + 1us}, std::chrono::microseconds::max()}) {
    refused(&client_options::spin, bad, "spin must be 0 to 1 s");
  }
  for (const auto bad : {-1ms, milliseconds{24h + 1ms}}) {
    refused(&client_options::quarantine, bad, "quarantine must be 0 to 24 h");
  }
  refused(&client_options::min_replicas, 101U, "min_replicas must be 0 to 100");
  refused(&client_options::replicas_fsync, true,
          "replicas_fsync must be false without min_replicas");
  refused(&client_options::name, std::string(257, 'x'), "name must be at most 256 bytes long");
}

TEST_P(Input, LockDelayIsAtMostAnHour) {
  for (const auto bad : {-1ms, milliseconds{1h + 1ms}, milliseconds::max()}) {
    expect_refused(mutex_options{.lock_delay = bad}, "lock_delay must be 0 to 1 h");
  }
}

TEST_P(Input, ClientNamesOfAnyBytesWork) {
  for (const auto& name : {"my program"s, "a\r\nb"s, "\0"s, "\xff\xfe"s, "\xc3\xa9t\xc3\xa9"s,
                           "{}%"s, std::string(128, ' ')}) {
    client_options options;
    options.name = name;
    const client named{server().url(), options};
    const auto got = named.mutex("a").try_acquire({.timeout = generous});
    ASSERT_TRUE(got) << ::testing::PrintToString(name) << ": " << got.error().what();
    EXPECT_EQ(inspector{redis()}.status("a").owner.program, name);
  }
}

TEST_P(Input, MalformedAddressesAreRefusedWithoutTheirPassword) {
  const std::string login = "user:"s + password + "@";
  for (const auto& url : {""s,
                          "\0"s,
                          "localhost"s,
                          "://"s,
                          "http://" + login + "h",
                          "redis://" + login,
                          "redis:" + login + "h",
                          "redis://" + login + "h:0",
                          "redis://" + login + "h:65536",
                          "redis://" + login + "h:6379x",
                          "redis://" + login + "h/x",
                          "redis://" + login + "h/-1",
                          "redis://" + login + "[::1",
                          "redis://" + login + "a b",
                          "redis://" + login + "h\r\nPING",
                          "redis://" + login + "h\0"s,
                          "redis://user%zz:"s + password + "@h",
                          "unix://relative"s,
                          "unix:///s?db=x"s,
                          "unix:///s?password="s + password,
                          "embedded:relative"s}) {
    const auto why = thrown_by([&] { const client made{url}; });
    EXPECT_EQ(why.reason(), errc::invalid_url) << ::testing::PrintToString(url);
    EXPECT_THAT(why.what(), Not(HasSubstr(password)));
  }
}

TEST_P(Input, EncryptionIsRefusedAndNotForgotten) {
  // What cannot be encrypted as it was asked for is not sent in the clear instead.
  client_options options;
  options.tls.ca_file = "/not/there";
  for (const auto& url : {"rediss://user:"s + password + "@h", "valkeys://h"s, "redis://h"s}) {
    const auto why = thrown_by([&] { const client made{url, options}; });
    EXPECT_THAT(why.what(), ::testing::AnyOf(HasSubstr("tls.ca_file"), HasSubstr("TLS"))) << url;
    EXPECT_THAT(why.what(), Not(HasSubstr(password)));
  }
}

// A host name with a part of 64 letters cannot exist: no name server needs to be asked.
TEST_P(Input, ServersThatAreNotThereAreToldWithoutThePassword) {
  const auto login = "redis://user:"s + password + "@";
  const auto directory = std::filesystem::path{server().socket()}.parent_path().string();
  for (const auto& url : {login + std::string(64, 'x') + ".invalid", login + "127.0.0.1:1",
                          "unix://" + directory, "unix://" + directory + "/none"}) {
    client_options options;
    if (url.front() == 'u') options.password = password;
    const client redis{url, options};
    EXPECT_THAT(redis.url(), Not(HasSubstr(password)));
    for (const auto& timeout : {0ms, 50ms}) {
      const auto got = redis.mutex("a").try_acquire({.timeout = timeout});
      expect_reason(got, errc::unavailable);
      EXPECT_THAT(got.error().what(), Not(HasSubstr(password)));
    }
    const auto asked = [&] { (void)inspector{redis}.status("a"); };
    EXPECT_THAT(thrown_by(asked).what(), Not(HasSubstr(password)));
    for (const auto& found : inspector{redis}.diagnose()) {
      EXPECT_THAT(found.detail + found.remedy, Not(HasSubstr(password)));
    }
  }
}

TEST_P(Input, SocketPathThatIsTooLongIsTold) {
  const client redis{"unix:///" + std::string(200, 'x')};
  const auto got = redis.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().what(), HasSubstr("longer than the system allows"));
}

TEST_P(Input, PasswordsOfAnyBytesWorkFromOptionsAndFromTheAddress) {
  const auto strange = "p w:@/?#%{}\r\n\"'\\\x01\xff"s;
  ASSERT_EQ(server()
                .command({"ACL", "SETUSER", "strange", "on", ">" + strange, "~*", "&*", "+@all"})
                .text,
            "OK");
  client_options options;
  options.username = "strange";
  options.password = strange;
  const client from_options{server().url(), options};
  const auto got = from_options.mutex("a").try_acquire();
  EXPECT_TRUE(got) << got.error().what();

  if (support::over_cluster()) return;  // the test cannot make one of a server that lets nobody in
  const auto tcp = start({.tcp = true, .arguments = {"--requirepass", password}});
  ASSERT_EQ(tcp.command({"PING"}).text.substr(0, 6), "NOAUTH");
  const client from_address{"redis://:%68unter2%2Dcorrect-horse@127.0.0.1:" +
                            std::to_string(tcp.port())};
  const auto also = from_address.mutex("a").try_acquire();
  EXPECT_TRUE(also) << also.error().what();
}

TEST_P(Input, WrongPasswordIsToldWithoutIt) {
  client_options options;
  options.username = "default\r\nPING";
  options.password = password;
  const client redis{server().url(), options};
  const auto got = redis.mutex("a").try_acquire({.timeout = generous});
  expect_reason(got, errc::authentication);
  EXPECT_THAT(got.error().what(), Not(HasSubstr(password)));
  for (const auto& found : inspector{redis}.diagnose()) {
    EXPECT_THAT(found.detail + found.remedy, Not(HasSubstr(password)));
  }
}

TEST_P(Input, DatabasesAreApartAndTheOneThatIsNotThereIsTold) {
  HOLDFAST_NEEDS_ONE_SERVER("it has one database");
  const client first{server().url() + "?db=1"};
  const auto held = redis().mutex("a").acquire();
  EXPECT_TRUE(first.mutex("a").try_acquire());
  const auto got = client{server().url() + "?db=16"}.mutex("a").try_acquire();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().what(), HasSubstr("out of range"));
}

}  // namespace
}  // namespace holdfast::conformance
