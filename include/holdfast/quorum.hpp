/// \file
/// A lock of several independent servers, which a minority of them may fail.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/dialect.hpp>

namespace holdfast {

namespace runtime {
class quorum_handle;
}

/// How a quorum behaves. All who use it should say the same.
struct quorum_options {
  /// The longest lease, with its `lock_delay`, that anybody takes or extends to: 10 ms to 24 h.
  /// A member that has lost its memory gives no vote for so long, since it may have voted for
  /// somebody who still counts on it.
  std::chrono::milliseconds longest_lease{30'000};
};

/// Independent servers that vote on who has a lock (Redlock, with tokens that stay ordered): it is
/// held when more than half of them have voted for the same request, and as long as more than half
/// keep that vote. So it stays usable, and safe, while fewer than half are down, hung or cut off.
/// Independent means that no server is a replica of another, and none loses what it was told.
///
/// Every member is a client of its own server, made by the caller; 3 or 5 are usual. An even number
/// is allowed and no better than one less. What a quorum promises under which assumptions, and when
/// one server is the better choice, is in docs/quorum.md.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
class quorum {
 public:
  /// Throws `failure{invalid_argument}` when there is no member, or when two have the same address.
  /// Two that are the same server under different addresses are found out by the first acquisition,
  /// which says so with `invalid_argument`.
  explicit quorum(std::vector<client> members, quorum_options options = {});

  /// A lock that one holder at a time can have. It is not the lock of that name of any one member.
  /// Waiting is in the order of arrival as a rule, and not for certain.
  ///
  /// With `dialect::redlock` it is a lock of redsync or node-redlock on the same servers, with what
  /// that algorithm promises: no token, no order, nobody is told (docs/wire/redlock.md).
  ///
  /// Throws `failure`: as `client::mutex`; `invalid_argument` for a lease longer than
  /// `quorum_options::longest_lease`; `unsupported` for what servers that know nothing of each
  /// other cannot give: `fair` and `queue_limit` (each would have a queue of its own, with another
  /// head), `retain` (each would have to ask for it back), `fencing::off` (tokens cost nothing),
  /// dialects of libraries that lock on one server.
  [[nodiscard]] lock mutex(std::string_view name, lock_options options = {},
                           const dialect& how = {}) const;

  /// Unsound over a quorum, and so they do not exist; what the compiler says shows the reason.
  void semaphore(...) const = delete;  ///< Of two permits three could each have a majority.
  void rw(...) const = delete;         ///< A member votes for one holder, and readers are several.
  void mode_lock(...) const = delete;  ///< A member votes for one holder, and here are several.
  void rate_limiter(...) const = delete;  ///< Each member would count on its own.
  void counter(...) const = delete;       ///< Each member would count on its own.
  void id_generator(...) const = delete;  ///< Each member would give out the same ids.

 private:
  std::shared_ptr<runtime::quorum_handle> handle_;
};

}  // namespace holdfast
