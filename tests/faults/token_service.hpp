// A service that gives logins that end, and an observer who counts what becomes of the clients.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "net/clock.hpp"
#include "support/private_server.hpp"

namespace holdfast::faults {

// Each token is a user of its own at all servers. When a token ends, its user is deleted: that
// closes each connection which is logged in by it still, and no other.
class token_service {
 public:
  // Says that a token is good for `said`. It is for three times as long: a busy machine is late.
  token_service(std::vector<const support::private_server*> servers, milliseconds said)
      : servers_(std::move(servers)), said_(said) {}

  // The callback of one client. A client that asks twice at a time is counted.
  std::function<login()> callback() {
    return [this, asked = std::make_shared<std::atomic<int>>()] {
      if (++*asked > 1) overlaps_ = true;
      auto given = give();
      --*asked;
      return given;
    };
  }

  // Ends the tokens whose time is over.
  void end_what_is_over() {
    for (;;) {
      std::string over;
      {
        const std::lock_guard lock(guard_);
        if (living_.empty() || net::now() < living_.front().ends) return;
        over = living_.front().user;
        living_.erase(living_.begin());
      }
      for (const auto* const server : servers_) server->command({"ACL", "DELUSER", over});
      ++ended_;
    }
  }

  int ended() const { return ended_; }
  bool overlaps() const { return overlaps_; }

 private:
  struct token {
    std::string user;
    monotonic_time ends;
  };

  login give() {
    const std::lock_guard lock(guard_);
    const auto user = "token-" + std::to_string(++given_);
    const auto secret = "secret-of-" + user;
    for (const auto* const server : servers_) {
      server->command({"ACL", "SETUSER", user, "on", ">" + secret, "~*", "&*", "+@all"});
    }
    living_.push_back({user, net::now() + 3 * said_});
    return {.username = user, .password = secret, .valid_for = said_};
  }

  const std::vector<const support::private_server*> servers_;
  const milliseconds said_;
  std::atomic<int> ended_{0};
  std::atomic<bool> overlaps_{false};
  std::mutex guard_;
  int given_ = 0;
  std::vector<token> living_;
};

class tally final : public observer {
 public:
  void on(const event& what) override {
    if (what.type == event_type::lost) ++lost;
    if (what.type == event_type::reconnected) ++reconnected;
    if (what.type != event_type::login_failed) return;
    ++failed_logins;
    const std::lock_guard lock(guard_);
    server_ = what.server;
    detail_ = what.detail;
  }

  // Of the last login that failed.
  std::string server() const {
    const std::lock_guard lock(guard_);
    return server_;
  }
  std::string detail() const {
    const std::lock_guard lock(guard_);
    return detail_;
  }

  std::atomic<int> lost{0}, reconnected{0}, failed_logins{0};

 private:
  mutable std::mutex guard_;
  std::string server_, detail_;
};

}  // namespace holdfast::faults
