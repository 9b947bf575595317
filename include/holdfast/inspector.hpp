/// \file
/// Looking at locks from outside, and breaking one: for operators and their tools.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>
#include <holdfast/detail/export.hpp>
#include <holdfast/holder.hpp>
#include <holdfast/lock_kind.hpp>

namespace holdfast {

/// What is held, or wanted, of a lock that several can hold. Of a mutex both are empty.
struct lock_share {
  std::string mode;           ///< "NL", "CR", "CW", "PR" (readers), "PW", "EX" (writers) or "U".
  std::uint32_t permits = 0;  ///< Of a semaphore.
};

/// One request that waits for a lock.
struct waiter {
  holder who;                                   ///< The client that waits.
  std::chrono::system_clock::time_point since;  ///< About when it joined, by the server's clock.
  lock_share wants{};                           ///< What it waits for.
};

/// One grant of a lock.
struct lock_holding {
  holder who;                                            ///< The client that holds it.
  lock_share has{};                                      ///< What it holds of the lock.
  fencing_token token{};                                 ///< Only when granted with a token.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Time left on the server.
  /// When it was granted, by the server's clock; only with a token.
  std::optional<std::chrono::system_clock::time_point> since{};
  /// What the holder says the grant is for (`lease::set_note`); empty when it says nothing, and in
  /// lists.
  std::string note{};
};

/// Whether a lock was held.
enum class lock_state {
  free,     ///< No key.
  held,     ///< Held in a layout that this version understands.
  shut,     ///< A latch that is not open, or a barrier where somebody waits.
  foreign,  ///< The key holds something else; `lock_status::detail` says what.
};

/// What a lock looked like on the server at one moment.
struct lock_status {
  std::string name;                     ///< That of the lock.
  lock_state state = lock_state::free;  ///< Whether somebody held it.
  lock_kind kind = lock_kind::unknown;  ///< Known when held or shut; mostly when somebody waits.
  std::string detail;   ///< What the key holds instead, when `foreign`. Empty otherwise.
  holder owner;         ///< Only when held: the holder that has held it longest.
  fencing_token token;  ///< The owner's, when held with a token.
  std::optional<std::chrono::milliseconds> remaining;  ///< The owner's time left on the server.
  /// When it was granted, by the server's clock; only with a token.
  std::optional<std::chrono::system_clock::time_point> since;
  /// All who hold it, the owner first: at most 100, in the order of their grants. Holders whose
  /// lease has ended are not shown.
  std::vector<lock_holding> holders;
  std::size_t holding = 0;           ///< How many hold it; about, when there are hundreds.
  std::uint64_t permits_in_use = 0;  ///< Of a semaphore.
  /// How many permits there are, if `semaphore::set_permits` has set the number for all processes.
  std::optional<std::uint32_t> permits;
  /// How often a latch must still be counted down, or how many parties a barrier has.
  std::uint32_t count = 0;
  /// How many requests wait in the queue on the server. The threads of one client hand a lock over
  /// among themselves: together they are one request, unless the lock is `fair`.
  std::size_t waiting = 0;
  std::vector<waiter> queue;  ///< The first of them, at most 100, in the order of their turns.
  std::string dialect = "holdfast";  ///< How it is written in Redis, as `dialect::name()` says.
  /// When the server looked, by its own clock: that of `since`. Unknown for locks of other
  /// libraries and of a quorum, for a lock that was broken, and in a process's own memory.
  std::optional<std::chrono::system_clock::time_point> now{};
};

/// Locks that a listing could not look at: one lock, or all of a server. If neither is named, `why`
/// tells which locks these are: those of hash slots that no server has, for example.
struct unseen_locks {
  std::string name{};    ///< Of the lock.
  std::string server{};  ///< "host:port".
  std::string why{};     ///< Why it could not be looked at.
};

/// How locks are listed.
struct list_options {
  std::size_t most = 1000;             ///< Locks in the answer.
  std::size_t most_scanned = 250'000;  ///< Keys to look at, of all servers together.
  /// Called now and then with the number of keys that were looked at, and the number of keys that
  /// there are. It is called on the calling thread, and must not throw.
  std::function<void(std::size_t scanned, std::size_t keys)> progress{};
  /// Ends the search by `failure{errc::cancelled}`, also while an answer is awaited.
  std::stop_token stop{};
};

/// What a bounded listing found.
struct lock_listing {
  std::vector<lock_status> locks;  ///< Sorted by name.
  /// Each lock that was held all the time is here. False when the list was `cut_short`, and when it
  /// is `indexed`, since the index cannot promise this.
  bool complete = true;
  /// The search ended before its end: there are more locks than `most`, `most_scanned` was reached,
  /// or some locks could not be looked at (`unseen`). `holdfast ls` has an exit code of its own for
  /// this.
  bool cut_short = false;
  /// There were more keys than `most_scanned`, so the names of Holdfast's locks come from the
  /// index. It may miss:
  ///
  /// - locks that have been held for less than half a second. Of locks that are held again and
  ///   again for so short a time, a client writes down one name in 5 s.
  /// - locks whose clients may not write the index, or could not at that moment.
  /// - for a minute, locks that only the old server knew before a failover, or that were written
  ///   before the server lost its data.
  /// - latches without waiters that were set more than a day ago, or before such a loss.
  bool indexed = false;
  std::vector<unseen_locks> unseen;  ///< What could not be looked at.
};

/// A client that has an entry in the client registry.
struct registered_client {
  holder who;  ///< Its `id` is the beginning of the ids of all its requests.
  /// When the client was made, by the server's clock.
  std::optional<std::chrono::system_clock::time_point> since{};
};

/// The clients that a bounded search found.
struct client_listing {
  std::vector<registered_client> clients;  ///< Sorted by host, program, pid, id.
  /// Each client that was registered all the time is here.
  bool complete = true;
  std::vector<unseen_locks> unseen;  ///< Servers and entries that could not be looked at.
};

/// How a grant of a lock ended, as far as the audit trail tells.
enum class grant_end {
  held,      ///< It has not ended: the server still knows it.
  released,  ///< Its holder gave it back.
  lost,      ///< Its holder noticed that it had ended before a release.
  broken,    ///< Somebody took it away: `inspector::break_lock`.
  /// The server does not know it any more, and nobody has told how it ended: as a rule the holder
  /// died, and the lease ended. It is said when the holder's client has no entry in the client
  /// registry any more (it keeps that for 3 minutes or its longest lease, if it dies), or when the
  /// mutex was granted again more than 5 s ago.
  expired,
  /// The server does not know it any more, and its client may still tell how it ended. Or the lock
  /// could not be looked at.
  unknown,
};

/// One grant of a lock that has an audit trail (`client_options::audit`), or a break.
///
/// Times are by the server's clock, and exact to about the time of a round trip.
struct audit_record {
  std::string name;                     ///< That of the lock.
  lock_kind kind = lock_kind::unknown;  ///< Of the lock.
  holder who{};                         ///< The client; `version` is empty.
  fencing_token token{};                ///< Only when granted with a token.
  /// When it was granted. None: only the break is known.
  std::optional<std::chrono::system_clock::time_point> granted{};
  /// When it ended. None: it has not, or nobody has told.
  std::optional<std::chrono::system_clock::time_point> ended{};
  grant_end how = grant_end::unknown;  ///< How it ended.
  std::string by{};                    ///< Broken: by whom, as "user@host:pid".
  /// Broken: why. Released: the name of the `errc` if the server has not confirmed the release.
  std::string reason{};
};

/// What the audit trail tells.
struct audit_report {
  std::vector<audit_record> records;  ///< In the order of the grants.
  /// Nothing that clients wrote in that time has been cut off, and no client dropped an entry.
  bool complete = true;
  std::uint64_t missed = 0;  ///< How many entries clients dropped, of all locks.
};

/// One thing that `inspector::diagnose` looked at.
struct finding {
  /// Good, worth a look, or in the way of safe locks.
  enum class severity { ok, warning, problem };
  severity level = severity::ok;  ///< How bad it is.
  std::string check;              ///< A short fixed name: "connect", "scripts", "persistence", ...
  std::string detail;             ///< What was found.
  std::string remedy;             ///< What to do about it; empty when nothing is wrong.
  std::string server{};           ///< Of one member of a quorum: its address. Otherwise empty.
};

/// Reads the state of locks, breaks one, and checks whether a server is fit for Holdfast.
///
/// All calls block. Each round trip takes at most the client's `response_timeout`, and
/// `connect_timeout` where there is no connection. `break_lock` takes as long as a counter may. All
/// calls throw `failure` (`unavailable`, `authentication`, `permission_denied`, ...) when the
/// server cannot be asked.
///
/// Thread safety: one object may be used from any number of threads.
class HOLDFAST_EXPORT inspector {
 public:
  /// Looks through this client, as its user and in its tenant. Sends nothing yet.
  explicit inspector(client redis);

  /// The state of one lock. Cost: one round trip, and others when somebody holds it or waits: one
  /// for each batch of clients, the first of 4. What the client registry does not tell stays empty,
  /// also when this user may not read it.
  [[nodiscard]] lock_status status(std::string_view name) const;

  /// The state of a lock that is written in this dialect, of all its users.
  ///
  /// The holder's `id` is what the layout tells of it. If knowing all of that were enough to
  /// release the lock, it is shortened; `holder::foreign_text` is whole. `detail` says how often
  /// the holder holds the lock. The waiters are not known. A reader of Redisson whose lease has
  /// ended is shown, without time left, as long as other readers are still there, since the lock
  /// still names that reader.
  [[nodiscard]] lock_status status(std::string_view name, const dialect& how) const;

  /// The locks that are held, or shut, and whose name matches `pattern`.
  ///
  /// In the pattern `*`, `?`, `[...]` and `\` have their meaning of the shell, byte by byte. A
  /// pattern without these is one name, which is looked up directly.
  ///
  /// SCAN looks at up to `most_scanned` keys. When there are more, names come from the *index of
  /// held locks*, however many keys of others there are. Such a list is `indexed` (which says what
  /// may be missing), so it is never `complete`.
  ///
  /// A lock that cannot be looked at, or a master of a cluster that does not answer, hides no
  /// others: it is named in `unseen`. Throws `failure` when nothing could be seen.
  [[nodiscard]] lock_listing list(std::string_view pattern = "*",
                                  const list_options& options = {}) const;

  /// As `list`, with the locks of other libraries that stand there.
  ///
  /// A lock is recognised by its key, the key's type and its content. Its `dialect` is as
  /// `holdfast status --dialect` takes it, with the environment after a colon. A text that many
  /// libraries could have drawn (a uuid, for example) is a plain lock of an unknown library: its
  /// dialect is `token`, and its name is the whole key. Locks that never end are listed too. For a
  /// pattern that is one name, what `find_foreign` recognises is listed as well: any text at the
  /// key of that name.
  ///
  /// This is a guess. Another text of the same form is taken for a lock. Keys that look like no
  /// known lock are left out.
  ///
  /// Other libraries have no index. So the search ends after `most_scanned` keys, and is not
  /// complete then. It costs a command for each 100 keys that are not Holdfast's, and needs the
  /// right to read every key. Over a cluster all masters are looked at.
  [[nodiscard]] lock_listing list_all_dialects(std::string_view pattern = "*",
                                               const list_options& options = {}) const;

  /// The clients that are registered: those that have asked for a lock and have not ended. One that
  /// was killed is registered for three minutes, or for its longest lease and a minute.
  ///
  /// SCAN looks at up to `most_scanned` keys, and `most` clients are told. When there are more, the
  /// list is not complete. `progress` and `stop` are as for `list`.
  [[nodiscard]] client_listing list_clients(const list_options& options = {}) const;

  /// Who had the locks whose name matches `pattern` during the last `how_long`, and how that ended:
  /// what clients have written that keep an audit trail of these locks (`client_options::audit`),
  /// and who broke which. A grant that began before is there if it ended since, or is still held.
  ///
  /// Reads the streams `hf:trail` and `hf:audit`, whole, and looks at locks whose end was not told.
  [[nodiscard]] audit_report audit(std::string_view pattern = "*",
                                   std::chrono::milliseconds how_long = std::chrono::hours{
                                       24}) const;

  /// Takes a lock away from all who have it, whatever they are doing. The tokens of the broken
  /// grants can never come again.
  ///
  /// The stream `hf:audit` keeps a record of who breaks what, and why: one entry for each of the
  /// first 100 holders, and the last 1,000 entries in all. Returns the state of the broken holder;
  /// `free` when nobody had the lock.
  ///
  /// Throws `failure{errc::foreign_key}` when the key is not a Holdfast lock. After `unavailable`
  /// the break may be executed until `response_timeout` after it was sent, no matter who holds the
  /// lock then; no later.
  lock_status break_lock(std::string_view name, std::string_view reason) const;

  /// Takes away a lock that is written in this dialect, of all its users: a lock that was left
  /// without an end, for example.
  ///
  /// Its waiters are notified as the library's own release notifies them. Its holder has no token
  /// that a resource could refuse, and notices the loss by itself at best. If it is a Redisson
  /// `RReadWriteLock`, all readers lose it.
  ///
  /// Throws also `failure`: `unsupported` for a semaphore, `busy` when the lock changes hands again
  /// and again.
  lock_status break_lock(std::string_view name, std::string_view reason, const dialect& how) const;

  /// Locks of other libraries that this name may mean: locks at the keys that libraries make of it,
  /// as `list_all_dialects` recognises them, and a text at the key of this very name. It is for a
  /// name that is said to be held, and that is free as a lock of Holdfast's. Keys that may not be
  /// read are left out.
  [[nodiscard]] std::vector<lock_status> find_foreign(std::string_view name) const;

  /// Tries for real everything that Holdfast needs of the server: connecting, logging in, each
  /// script, publishing; version, latency, clock, memory policy, persistence. Never throws for what
  /// the server does: that is a finding. After a stop (`client_options::stop`) it throws
  /// `cancelled`.
  [[nodiscard]] std::vector<finding> diagnose() const;

 private:
  client redis_;
};

}  // namespace holdfast
