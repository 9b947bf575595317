/// \file
/// Who leads: one of many candidates at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/fencing_token.hpp>
#include <holdfast/holder.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

namespace runtime {
class observed_key;
}

/// How an election behaves. The lease is how long a leader that died stays leader.
struct election_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< As in `lock_options`.
  std::uint32_t queue_limit = 100'000;               ///< How many candidates may wait.
};

/// Who leads.
struct leader {
  holder who;
  fencing_token token;
  std::chrono::system_clock::time_point since;  ///< By the server's clock.
  friend bool operator==(const leader& a, const leader& b) { return a.token == b.token; }
};

/// While it lives, changes of the leader are told. Destroying it ends that: no call is under way
/// then, unless it is destroyed by that very call, or by a callback for whose end that call waits.
/// Thread safety: a handle of one thread.
class [[nodiscard("destroying it ends the observation")]] observation {
 public:
  ~observation();
  observation(observation&&) noexcept;
  observation& operator=(observation&&) noexcept;

 private:
  friend class election;
  observation(std::shared_ptr<runtime::client_core> core,
              std::shared_ptr<runtime::observed_key> key) noexcept;
  void end() noexcept;

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<runtime::observed_key> key_;
};

/// An election. Made by `client::elect()`. It is a fair mutex: to hold it is to lead, candidates
/// wait in the order in which they came, the lease is renewed while the leader lives, its `lost()`
/// tells him that he must stop, and its token refuses what he writes too late. To release the lease
/// is to resign; the next candidate leads at once. When a leader dies, his successor leads when the
/// lease has run out.
///
/// Two may believe that they lead for as long as a frozen leader does not look at its lease: give
/// `token()` to whatever the leader writes to.
///
/// Cost: of a campaign, that of a lock (one command, two in all when it waits). `leader` two
/// commands. Observing: one command at first, then for each change and for each renewal of the
/// lease two, and one for each new leader to know who that is; and two every 5 s in any case.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class election : public lock {
 public:
  /// Waits until it leads. The same as `acquire`; the other verbs of `lock` campaign as well.
  [[nodiscard]] lease campaign(const acquire_options& options = {},
                               std::stop_token stop = {}) const {
    return acquire(options, std::move(stop));
  }

  /// Who leads now, if anybody does. Throws `failure` as `inspector` does.
  [[nodiscard]] std::optional<holdfast::leader> leader() const;

  /// Tells who leads, at first and then at every change; nothing: nobody does. The calls come one
  /// after another, on the client's callback thread: one that blocks delays the others. Who led
  /// only for a moment between two calls may be left out. A call that throws ends the process.
  ///
  /// The server tells the client of each change (RESP3, CLIENT TRACKING), and it is asked again
  /// every 5 s, and after each reconnect. Where it cannot tell (`wakeup::poll`, an old server or
  /// proxy, an access list), it is asked every 250 ms. While the server cannot be reached nothing
  /// is told.
  observation observe(std::function<void(const std::optional<holdfast::leader>&)> tell) const;

 private:
  friend class client;
  explicit election(lock candidacy) : lock(std::move(candidacy)) {}
};

}  // namespace holdfast
