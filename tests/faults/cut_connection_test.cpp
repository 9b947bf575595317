// The connection is cut behind every single byte of a request and of its reply. Afterwards the lock
// is ours with a good token or free, and never anything else.
#include <algorithm>
#include <atomic>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::cut;
using support::fault_proxy;
using support::toward;

struct cutting {
  toward where;
  std::size_t bytes;
  cut how;
};

std::ostream& operator<<(std::ostream& out, const cutting& one) {
  return out << (one.how == cut::close ? "closed" : "reset") << " behind byte " << one.bytes
             << (one.where == toward::server ? " of the request" : " of the reply");
}

// A client behind a network of its own.
class bad_line {
 public:
  bad_line(const private_server& server, int number, const client_options& how = options())
      : proxy(net::unix_endpoint{server.socket()}),
        redis(proxy.url(), how),
        name("line:" + std::to_string(number)) {
    // So that later operations send nothing but themselves, no script's text for example.
    auto warm = redis.mutex(name).acquire();
    EXPECT_TRUE(warm.extend(60s));
    EXPECT_TRUE(warm.release());
  }

  static client_options options() {
    auto all = impatient();
    all.response_timeout = 200ms;  // a resent acquire waits that long
    return all;
  }

  fault_proxy proxy;
  client redis;
  std::string name;
};

class CutConnection : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) server_.emplace(start());
  }
  const private_server& server() const { return *server_; }

  // Every cut of an operation whose size is measured by doing it once. `prepare` comes before that.
  template <typename Prepare, typename Operation>
  std::vector<cutting> every_cut_of(Prepare&& prepare, Operation&& operation) {
    bad_line line(server(), 0);
    lease held = prepare(line);
    const auto request = line.proxy.forwarded(toward::server);
    const auto reply = line.proxy.forwarded(toward::client);
    operation(line, held);
    EXPECT_TRUE(eventually([&] { return line.proxy.forwarded(toward::client) > reply; }));
    constexpr std::size_t longer_numbers = 8;
    return cuts(line.proxy.forwarded(toward::server) - request + longer_numbers,
                line.proxy.forwarded(toward::client) - reply + longer_numbers);
  }
  static lease acquire(const bad_line& line) { return line.redis.mutex(line.name).acquire(); }
  std::vector<cutting> every_cut_of_acquire(mutex_options how = {}) {
    const auto other = [](const auto& line) { return line.redis.mutex("other").acquire(); };
    return every_cut_of(other, [how](const auto& line, lease& held) {
      held = line.redis.mutex(line.name, how).acquire();
    });
  }
  std::vector<cutting> every_cut_of_extension() {
    return every_cut_of(acquire, [](const auto&, lease& held) { EXPECT_TRUE(held.extend(60s)); });
  }
  std::vector<cutting> every_cut_of_release() {
    return every_cut_of(acquire, [](const auto&, lease& held) { EXPECT_TRUE(held.release()); });
  }

  // Of a client's log-in and first acquisition. Most of that are scripts' texts, of which some
  // bytes are enough.
  std::vector<cutting> cuts_of_log_in() {
    auto all = every_cut_of(acquire, [](const auto& line, lease&) {
      const client newcomer{line.proxy.url(), bad_line::options()};
      newcomer.mutex("newcomer").acquire().release().value();
    });
    const auto longest = std::ranges::max(all, {}, &cutting::bytes).bytes;
    std::erase_if(all, [longest](const cutting& one) {
      return one.bytes > 400 && one.bytes + 400 < longest && one.bytes % 61 != 0;
    });
    return half_of(std::move(all));
  }

  // Every byte, but only one way of cutting: for what takes long.
  static std::vector<cutting> half_of(std::vector<cutting> all) {
    std::erase_if(
        all, [](const cutting& one) { return (one.bytes % 2 == 0) != (one.how == cut::close); });
    return all;
  }

  // Calls `body` for every cut, on several lines at a time since it mostly waits.
  template <typename Body>
  void try_all(const std::vector<cutting>& all, Body&& body,
               const client_options& how = bad_line::options()) {
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (int number = 1; number <= 16; ++number) {
      workers.emplace_back([&, number] {
        bad_line line(server(), number, how);
        for (auto i = next++; i < all.size(); i = next++) {
          SCOPED_TRACE(::testing::PrintToString(all[i]));
          body(line, all[i]);
          line.proxy.heal();
        }
      });
    }
    for (auto& worker : workers) worker.join();
  }

  bool is_free(const std::string& name) const {
    return server().command({"EXISTS", value_key(name)}).number == 0;
  }

  // Over a good line. Beside other work the answer may take longer than these clients wait for one:
  // then they try the release on in the background.
  void expect_released(lease& held) const {
    const auto released = held.release();
    if (!released) expect_failure(released, errc::unavailable, "");
    EXPECT_TRUE(eventually([&] { return is_free(held.name()); }));
  }

  // The server agrees that exactly this grant holds the lock.
  void expect_owner(const lease& held) const {
    EXPECT_TRUE(held.held());
    const auto value = server().command({"GET", value_key(held.name())}).text;
    const auto major = held.token() ? std::to_string(held.token().value() / 2048) + ":" : "";
    EXPECT_THAT(value, ::testing::StartsWith("1:" + major));
  }

 private:
  static std::vector<cutting> cuts(std::size_t request, std::size_t reply) {
    std::vector<cutting> all;
    for (const auto how : {cut::close, cut::reset}) {
      for (std::size_t n = 0; n <= request; ++n) all.push_back({toward::server, n, how});
      for (std::size_t n = 0; n <= reply; ++n) all.push_back({toward::client, n, how});
    }
    return all;
  }

  std::optional<private_server> server_;
};
HOLDFAST_ON_EACH_SERVER(CutConnection);

TEST_P(CutConnection, PatientAcquireSucceedsAndOwnsTheLock) {
  const auto all = every_cut_of_acquire();
  const client other{server().url()};
  try_all(all, [&](bad_line& line, const cutting& one) {
    const auto lock = line.redis.mutex(line.name);
    const auto before = lock.acquire().token();
    ASSERT_TRUE(eventually([&] { return is_free(line.name); }));
    line.proxy.cut_after(one.where, one.bytes, one.how);
    auto held = lock.try_acquire({.timeout = support::generous});
    ASSERT_TRUE(held) << why_not(held);
    EXPECT_GT(held->token(), before);
    expect_owner(*held);
    expect_failure(other.mutex(line.name).try_acquire(), errc::busy, "");
    line.proxy.heal();
    expect_released(*held);
  });
}

TEST_P(CutConnection, ANewcomerGetsInWhereverItsLogInIsCut) {
  const auto all = cuts_of_log_in();
  try_all(all, [&](bad_line& line, const cutting& one) {
    line.proxy.cut_after(one.where, one.bytes, one.how);
    const client newcomer{line.proxy.url(), bad_line::options()};
    const auto lock = newcomer.mutex(line.name);
    auto held = lock.try_acquire({.timeout = support::generous});
    if (!held) {
      // A client that has never reached the server is told so at once.
      expect_failure(held, errc::unavailable, "");
      EXPECT_TRUE(is_free(line.name));
      held = lock.try_acquire({.timeout = support::generous});
    }
    ASSERT_TRUE(held) << why_not(held);
    expect_owner(*held);
    line.proxy.heal();
    expect_released(*held);
  });
}

// A server that has hung up is looked at for TLS. One without says nothing then.
TEST_P(CutConnection, ALogInThatIsCutKeepsNobodyWaitingForTheWholeTimeOut) {
  auto options = bad_line::options();
  options.connect_timeout = 8s;
  bad_line line(server(), 1);
  line.proxy.cut_after(toward::client, 0, cut::close);
  const client newcomer{line.proxy.url(), options};
  const auto held = newcomer.mutex(line.name).try_acquire({.timeout = 7s});
  if (!held) expect_failure(held, errc::unavailable, "");
}

// A plain SET NX cannot tell its own earlier copy from somebody else's: the resend must.
TEST_P(CutConnection, PatientAcquireWithoutTokenSucceeds) {
  const mutex_options off{.fencing = fencing::off};
  const auto all = every_cut_of_acquire(off);
  try_all(all, [&](bad_line& line, const cutting& one) {
    line.proxy.cut_after(one.where, one.bytes, one.how);
    auto held = line.redis.mutex(line.name, off).try_acquire({.timeout = support::generous});
    ASSERT_TRUE(held) << why_not(held);
    expect_owner(*held);
    line.proxy.heal();
    expect_released(*held);
  });
}

TEST_P(CutConnection, AskingOnceLeavesNothingBehind) {
  const auto all = half_of(every_cut_of_acquire());
  try_all(all, [&](bad_line& line, const cutting& one) {
    line.proxy.cut_after(one.where, one.bytes, one.how);
    auto got = line.redis.mutex(line.name, {.lease = 60s}).try_acquire();
    if (got) {
      expect_owner(*got);
      expect_released(*got);
    } else {
      expect_failure(got, errc::unavailable, "");
    }
    EXPECT_TRUE(eventually([&] { return is_free(line.name); })) << "long before the lease ends";
  });
}

TEST_P(CutConnection, RenewalIsTriedAgain) {
  const auto all = half_of(every_cut_of_extension());  // the same command as a renewal
  try_all(all, [&](bad_line& line, const cutting& one) {
    auto held = line.redis.mutex(line.name, {.lease = 1200ms}).acquire();
    const auto cuts = line.proxy.cuts();
    line.proxy.cut_after(one.where, one.bytes, one.how);
    const auto first_deadline = net::now() + held.remaining();
    EXPECT_TRUE(eventually([&] {
      const bool renewed = net::now() + held.remaining() > first_deadline + 200ms;
      return !held.held() || (renewed && line.proxy.cuts() > cuts) || net::now() > first_deadline;
    }));
    expect_owner(held);
    expect_released(held);
  });
}

TEST_P(CutConnection, ExtensionFailsOrSucceedsAndTheLockStaysOurs) {
  const auto all = every_cut_of_extension();
  try_all(all, [&](bad_line& line, const cutting& one) {
    auto held = line.redis.mutex(line.name).acquire();
    line.proxy.cut_after(one.where, one.bytes, one.how);
    if (const auto first = held.extend(60s); !first) expect_failure(first, errc::unavailable, "");
    EXPECT_TRUE(held.extend(60s) || held.extend(60s));
    expect_owner(held);
    EXPECT_GT(held.remaining(), 50s);
    line.proxy.heal();
    expect_released(held);
  });
}

TEST_P(CutConnection, ReleaseSucceedsAndTheLockIsFree) {
  const auto all = every_cut_of_release();
  try_all(
      all,
      [&](bad_line& line, const cutting& one) {
        auto held = line.redis.mutex(line.name).acquire();
        line.proxy.cut_after(one.where, one.bytes, one.how);
        const auto released = held.release();
        EXPECT_TRUE(released) << why_not(released);
        EXPECT_FALSE(held.held());
        EXPECT_TRUE(is_free(line.name));
      },
      patient());  // a broken connection is noticed, and the release sent again, without a time-out
}

TEST_P(CutConnection, DestructorReleasesAllTheSame) {
  const auto all = every_cut_of_release();
  try_all(all, [&](bad_line& line, const cutting& one) {
    {
      const auto held = line.redis.mutex(line.name, {.lease = 60s}).acquire();
      line.proxy.cut_after(one.where, one.bytes, one.how);
    }
    EXPECT_TRUE(eventually([&] { return is_free(line.name); }));
  });
}

}  // namespace
}  // namespace holdfast::faults
