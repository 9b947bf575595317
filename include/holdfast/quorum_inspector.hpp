/// \file
/// Looking at the locks and servers of a quorum from outside, and breaking a lock: for operators
/// and their tools.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/inspector.hpp>

namespace holdfast {

/// What one member of a quorum has of a lock.
struct quorum_vote {
  std::string member;  ///< Its address, as `client::url()`.
  /// Held: the member has voted for the owner, for the remaining time. Its token is as large as
  /// that of the lock, once the owner has told the member of it. Waiters are counted, and not
  /// listed.
  lock_status lock;
  /// How much longer the member gives no vote, since it has lost its memory.
  std::chrono::milliseconds stays_out{0};
  std::string unavailable;  ///< Why nothing is known of it; empty when it answered.
};

/// Whether a lock of a quorum was held.
enum class quorum_state {
  free,     ///< Nobody has the votes of a majority.
  held,     ///< A majority has voted for the owner.
  unknown,  ///< So many members did not answer that somebody may have a majority.
};

/// What a lock of a quorum looked like. The members were asked one after the other.
struct quorum_status {
  std::string name;                         ///< That of the lock.
  quorum_state state = quorum_state::free;  ///< Whether somebody held it.
  holder owner;                             ///< Only when held, as are the next three.
  fencing_token token;                      ///< The largest token among the owner's votes.
  std::optional<std::chrono::milliseconds> remaining{};  ///< How long a majority keeps them.
  std::size_t votes = 0;             ///< How many members have voted for the owner.
  std::vector<quorum_vote> members;  ///< In the order in which they were named.
};

/// Reads the state of locks of a quorum, breaks one, and checks whether servers are fit to be the
/// members of one.
///
/// All calls block. The members are asked one after the other. Each round trip takes as long as an
/// `inspector` of that member's client waits.
///
/// Thread safety: one object may be used from any number of threads.
class HOLDFAST_EXPORT quorum_inspector {
 public:
  /// Throws as `quorum` does.
  explicit quorum_inspector(std::vector<client> members);

  /// The votes for one lock. If no member can be asked, throws the `failure` of the first.
  [[nodiscard]] quorum_status status(std::string_view name) const;

  /// The votes for a lock that is written in this dialect, of all its users. All votes for one text
  /// are one holder's. Throws also `failure`: `unsupported` for a dialect that `quorum::mutex`
  /// refuses.
  [[nodiscard]] quorum_status status(std::string_view name, const dialect& how) const;

  /// Takes a lock away from its holder, at every member that answers. No renewal of that holder
  /// brings a vote back. Each member keeps a record as `inspector::break_lock` does.
  ///
  /// Returns what was taken away: `held` when it was a majority's votes, so that the lock had a
  /// holder. Single votes may be those of an attempt.
  ///
  /// Throws `failure` when fewer than a majority can be asked, and has then changed nothing. At a
  /// member that did not answer, the break may be executed until `response_timeout` after it was
  /// sent, as with `inspector::break_lock`.
  quorum_status break_lock(std::string_view name, std::string_view reason) const;

  /// Takes away a lock that is written in this dialect. A holder that goes on may get votes back
  /// only where its library asks for them anew.
  quorum_status break_lock(std::string_view name, std::string_view reason,
                           const dialect& how) const;

  /// What `inspector::diagnose` says of each member, behind its address, and of all together: how
  /// many answer, whether they are different servers and an odd number, and how far their clocks
  /// are from each other. Never throws for what a server does: that is a finding.
  [[nodiscard]] std::vector<finding> diagnose() const;

 private:
  std::vector<client> members_;
};

}  // namespace holdfast
