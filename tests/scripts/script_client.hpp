// Speaks the native layout to a real server over one blocking socket: recipes without machines.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lease/server_clock.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/inspect.hpp"
#include "redis/resp/writer.hpp"
#include "support/each_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::dialects {

using support::private_server;

inline constexpr milliseconds lease{30'000};
inline constexpr server_time never{microseconds(7'000'000'000'000'000)};  // the year 2191

// Claims of one client on one lock; each call is a new attempt.
class claims_of {
 public:
  explicit claims_of(const lock_key& key, std::uint8_t client = 1)
      : key_(&key), client_({client}) {}

  claim next(milliseconds how_long = lease, token_major floor = 0) {
    return {.key = key_,
            .owner = request_id{client_, ++counter_},
            .lease = how_long,
            .floor = floor,
            .granted = 0,
            .proof = 0xabc0000000000000 + counter_};
  }

 private:
  const lock_key* key_;
  client_id client_;
  std::uint64_t counter_ = 0;
};

class script_client {
 public:
  explicit script_client(const private_server& server, fencing how = fencing::on)
      : script_client(server, native_mutex(how)) {}
  script_client(const private_server& server, const recipe& how)
      : connection_(net::unix_endpoint{server.socket()}), recipe_(how) {}

  acquire_verdict acquire(const claim& c, bool resend = false, server_time not_after = never) {
    return recipe_.read_acquire(
        c, ask([&](auto& out) { recipe_.write_acquire(c, resend, not_after, out); }));
  }
  // Acquires, or fails the test. Afterwards the claim knows what it was granted.
  granted must_acquire(claim& c) {
    const auto verdict = acquire(c);
    const auto* grant = std::get_if<granted>(&verdict);
    EXPECT_NE(grant, nullptr) << why(verdict);
    if (grant == nullptr) return {};
    c.granted = grant->major;
    return *grant;
  }

  std::vector<renew_verdict> renew(const std::vector<const claim*>& held,
                                   server_time not_after = never) {
    const auto reply = ask([&](auto& out) { recipe_.write_renew(held, not_after, out); });
    std::vector<renew_verdict> verdicts;
    for (std::size_t i = 0; i < held.size(); ++i) {
      verdicts.push_back(recipe_.read_renew(reply, i));
    }
    return verdicts;
  }
  renew_verdict renew(const claim& held) { return renew(std::vector{&held}).front(); }

  release_verdict release(const claim& held) {
    return recipe_.read_release(ask([&](auto& out) { recipe_.write_release(held, out); }));
  }
  release_verdict lone_release(const claim& held) {
    return recipe_.read_release(ask([&](auto& out) { recipe_.write_lone_release(held, out); }));
  }
  release_verdict withdraw(const claim& wanted) {
    return recipe_.read_release(ask([&](auto& out) { recipe_.write_withdraw(wanted, out); }));
  }
  break_verdict break_lock(const lock_key& key) {
    return read_break(key, ask([&](auto& out) { write_break(key, never, out); }));
  }
  inspect_verdict inspect(const lock_key& key) {
    return read_inspect(ask([&](auto& out) { write_inspect(key, out); }));
  }

  // Sends what `write` writes, with the scripts' whole text, and reads one reply.
  template <typename Write>
  resp::value ask(Write write, resp::writer::scripts how = resp::writer::scripts::by_text) {
    std::string bytes;
    resp::writer out{bytes, how};
    write(out);
    connection_.send(bytes);
    return connection_.read_value();
  }

  resp::value command(const std::vector<std::string>& words) { return connection_.command(words); }
  std::string get(const std::string& key) { return command({"GET", key}).text; }
  // What a fence counter has reached. One that is ahead of the clock is followed by a time.
  token_major counted(const lock_key& of) {
    const auto text = get(of.fence_key());
    return std::stoull(text.substr(0, text.find(' ')));
  }
  // As if the lock's hash slot had been in use for long: majors are the time from now on.
  void let_the_counter_begin(const lock_key& of) {
    command({"SET", of.fence_key(), std::to_string(micros() - 1'000'000)});
  }
  std::int64_t pttl(const std::string& key) { return command({"PTTL", key}).number; }
  bool exists(const std::string& key) { return command({"EXISTS", key}).number == 1; }
  // Whether what `write(not_after, out)` writes is refused when it comes too late, and from who
  // does not know the time, and changes nothing then.
  template <typename Write>
  bool refuses_late(Write write) {
    const auto before = contents();
    const auto is_refused = [&](server_time not_after) {
      return read_late(ask([&](auto& out) { write(not_after, out); })).has_value();
    };
    const server_time now{microseconds(static_cast<std::int64_t>(micros()))};
    const bool refuses_both = is_refused(now - milliseconds{1}) && is_refused(leasing::far_future);
    return refuses_both && contents() == before;
  }
  // Everything that is in the database, to see that nothing was changed.
  std::string contents() {
    auto keys = command({"KEYS", "*"});
    std::string all;
    std::sort(keys.items.begin(), keys.items.end(),
              [](const auto& a, const auto& b) { return a.text < b.text; });
    for (const auto& key : keys.items) {
      all += key.text + " = " + resp::to_string(command({"DUMP", key.text})) + '\n';
    }
    return all;
  }

  token_major micros() {
    const auto time = command({"TIME"});
    return std::stoull(time.items.at(0).text) * 1'000'000 + std::stoull(time.items.at(1).text);
  }

  support::raw_connection& connection() noexcept { return connection_; }

  template <typename Verdict>
  static std::string why(const Verdict& verdict) {
    const auto* reason = std::get_if<refused>(&verdict);
    return reason != nullptr ? reason->detail
                             : "alternative " + std::to_string(verdict.index()) + " of the verdict";
  }

 private:
  support::raw_connection connection_;
  const recipe& recipe_;
};

// The code of a refusal; busy when it is none.
template <typename Verdict>
errc code_of(const Verdict& verdict) {
  const auto* reason = std::get_if<refused>(&verdict);
  EXPECT_NE(reason, nullptr) << script_client::why(verdict);
  return reason != nullptr ? reason->code : errc::busy;
}

// A server, a client, a lock and its claims. The tests of one suite share a server, since starting
// one takes longer than most of them. Each test finds it empty.
class scripts_test : public support::server_test {
 protected:
  static void TearDownTestSuite() { servers().clear(); }

  void SetUp() override {
    server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto& kept = servers()[GetParam()];
    if (!kept) kept = std::make_unique<private_server>(start());
    server_ = kept.get();
    redis_ = std::make_unique<script_client>(*server_);
  }
  void TearDown() override {
    if (!redis_) return;
    if (HasFailure() || was_set_up_anew()) {
      servers().erase(GetParam());
    } else {
      server_->command({"FLUSHALL"});
    }
  }

  script_client& redis() { return *redis_; }
  const private_server& server() const { return *server_; }
  // As far as the server knows.
  void end_the_lease() { redis().command({"DEL", key.value_key()}); }

  const lock_key key{"orders:42"};
  claims_of claims{key};
  claims_of others{key, 2};

 private:
  static std::map<std::string, std::unique_ptr<private_server>>& servers() {
    static std::map<std::string, std::unique_ptr<private_server>> each;
    return each;
  }
  // What a test has changed of its configuration, users or scripts would be there for the next.
  bool was_set_up_anew() const {
    const auto ran = server_->command({"INFO", "commandstats"}).text;
    const auto has_run = [&](const char* name) {
      return ran.find(std::string("cmdstat_") + name) != ran.npos;
    };
    return has_run("config") || has_run("acl") || has_run("script") || has_run("replicaof");
  }

  private_server* server_ = nullptr;
  std::unique_ptr<script_client> redis_;
};

}  // namespace holdfast::dialects
