/// \file
/// Elections: one of many candidates leads at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/acquirable.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/holder.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

namespace redis_locks {
class observed_key;
}

/// How an election behaves. The lease says how long a leader that has died stays leader.
struct election_options {
  std::optional<std::chrono::milliseconds> lease{};  ///< As in `mutex_options`.
  std::uint32_t queue_limit = 100'000;               ///< How many candidates may wait.
};

/// The leader of an election.
struct leader {
  holder who;           ///< The client that leads.
  fencing_token token;  ///< The token of its lead: each leader has a larger one.
  std::chrono::system_clock::time_point since;  ///< By the server's clock.
  /// Whether both are the same lead: their tokens are equal.
  friend bool operator==(const leader& a, const leader& b) { return a.token == b.token; }
};

/// While this object lives, the function given to `observe` is called for each change of the
/// leader. Destroying it ends that. No call is under way then, with two exceptions: that very call
/// destroys it, or a callback does for whose end that call waits.
///
/// Thread safety: a handle of one thread.
class HOLDFAST_EXPORT [[nodiscard("destroying it ends the observation")]] observation {
 public:
  ~observation();                                  ///< Ends the observation.
  observation(observation&&) noexcept;             ///< The other observes nothing then.
  observation& operator=(observation&&) noexcept;  ///< Ends what was observed before.

 private:
  friend class election;
  observation(std::shared_ptr<runtime::client_core> core,
              std::shared_ptr<redis_locks::observed_key> key) noexcept;
  void end() noexcept;

  std::shared_ptr<runtime::client_core> core_;
  std::shared_ptr<redis_locks::observed_key> key_;
};

/// An election. Made by `client::election()`.
///
/// It is a fair mutex. To hold it is to lead. Candidates wait in the order in which they came. The
/// lease is renewed while the leader lives, and its `lost()` tells the leader that it must stop.
/// Its token makes a resource refuse what the leader writes too late. To release the lease is to
/// resign; the next candidate leads at once. When a leader dies, its successor leads when the lease
/// has run out.
///
/// While a frozen leader does not look at its lease, two may believe that they lead. So give
/// `token()` to whatever the leader writes to.
///
/// Cost:
///
/// - A campaign costs as much as a lock: one command, and two in all when it waits.
/// - `leader`: two commands.
/// - An observation: one command at first. Then two for each change and for each renewal of the
///   lease, and one for each new leader, to know who that is. And two every 5 s in any case.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class HOLDFAST_EXPORT election : public acquirable {
 public:
  /// Waits until it leads, as `acquire` does; the other verbs campaign as well.
  [[nodiscard]] lease campaign(const acquire_options& options = {},
                               std::stop_token stop = {}) const {
    return acquire(options, std::move(stop));
  }

  /// The present leader, if there is one. Throws `failure` as `inspector` does.
  [[nodiscard]] std::optional<holdfast::leader> leader() const;

  /// Calls `tell` with the leader, at first and then at every change; with nothing if nobody leads.
  ///
  /// The calls come one after another, on the client's callback thread. A call that blocks delays
  /// the others. A leader that led only for a moment between two calls may be left out. A call that
  /// throws ends the process.
  ///
  /// The server notifies the client of each change (RESP3, CLIENT TRACKING). The client also asks
  /// every 5 s, and after each reconnect. Where the server cannot notify it (`wakeup::poll`, an old
  /// server or proxy, an access list), the client asks every 250 ms. While the server cannot be
  /// reached, there are no calls.
  observation observe(std::function<void(const std::optional<holdfast::leader>&)> tell) const;

 private:
  friend class client;
  explicit election(lock candidacy) noexcept : acquirable(std::move(candidacy)) {}
};

}  // namespace holdfast
