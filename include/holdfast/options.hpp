/// \file
/// The options of clients, mutexes and acquisitions: plain structs with documented defaults. Each
/// other kind has options of its own, in its header: those that it can honour, and no others.
///
/// The options of locks and acquisitions own nothing: they are trivially destructible. So they may
/// be written where a coroutine awaits, although GCC 12 destroys such a temporary twice. A
/// `std::stop_token` and a `dialect` own memory, so each is an argument of its own.
///
/// Two things need a line of their own before the line that awaits. With GCC 12, one is a client
/// that is made with options in braces. With GCC 12 and 13, the other is locks of a list in braces
/// (`all_of({a, b})`), which neither compiles there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <holdfast/login.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

/// A timeout that never ends. Holdfast waits for ever only where a caller writes this down.
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

/// How waiters learn that a lock was handed over to them.
enum class wakeup {
  notification,  ///< The server notifies them at once. The default.
  poll,          ///< They ask often. For servers and proxies that do not pass messages on.
};

/// For TLS (`rediss://`): which servers the client trusts, and how it identifies itself.
///
/// TLS 1.2 or later is used. The server's certificate must come from a trusted authority and name
/// the host of the URL, be it a name or an address.
///
/// Files are in PEM form. The client looks at them when it is made (`errc::invalid_argument`), and
/// reads them anew for each connection. So a renewed certificate needs no restart. With a URL that
/// is not for TLS, these options are refused. Otherwise a user would believe that the connection is
/// safe.
struct tls_options {
  /// The authorities to trust: in a file, or in a directory as `openssl rehash` makes it. If both
  /// are empty, the client trusts those of the system, or of the environment's SSL_CERT_FILE and
  /// SSL_CERT_DIR.
  std::string ca_file{};
  std::string ca_directory{};  ///< The authorities, as a directory.

  /// The client's own certificate, for servers that demand one, with those of the authorities
  /// between. The key has no passphrase. Without `key_file` the key stands in the same file.
  std::string certificate_file{};
  std::string key_file{};  ///< The key of that certificate.

  /// What the certificate must name instead of the URL's host, for example behind a tunnel.
  std::string server_name{};

  /// Believes any server: anybody on the way can read and change everything, the password and the
  /// locks. For experiments only.
  bool insecure_accept_any_certificate = false;

  bool operator==(const tls_options&) const = default;  ///< Whether all options are equal.
};

/// How a client talks to its server. A value out of its range is refused when the client is made
/// (`errc::invalid_argument`).
struct client_options {
  /// How long connecting (name look-up, TCP, log-in) may take in all: 1 ms to 10 min.
  std::chrono::milliseconds connect_timeout{2000};

  /// Ends every call of this client that has no token of its own, as the shutdown of a service
  /// should: `errc::cancelled`. Without one, the default, such a call ends when its time is over.
  ///
  /// It ends what waits for a lock, looks at one or changes a value, not what gives something back.
  /// Leases live on. A change that was sent may still be executed, as after `unavailable`. Of a
  /// quorum the token of its first member counts.
  std::stop_token stop{};

  /// How long the server may take to answer one command: 1 ms to 10 min. After that the connection
  /// counts as broken. The client closes it, and asks again what was asked on it.
  std::chrono::milliseconds response_timeout{2000};

  /// The lease of locks that do not name their own: 10 ms to 24 h.
  std::chrono::milliseconds default_lease{30'000};

  /// How long `lock::acquire()` waits when the call does not say. Zero: it asks once. `forever` is
  /// allowed.
  std::chrono::milliseconds default_timeout{60'000};

  /// The client's name in `holdfast status`, which shows the first 128 bytes. At most 256 bytes.
  /// Empty: the program's name.
  std::string name{};

  /// The tenant that has these locks and values, where several share a server: 1 to 64 letters,
  /// digits, `.`, `_` and `-`. Empty, the default: no tenant.
  ///
  /// All keys and channels of a client with a tenant begin with `hf:@NAME:`, otherwise with `hf:`.
  /// So an access list can keep the users of one tenant from the keys of others
  /// (`holdfast acl --tenant NAME`). The same name of a lock is another lock for each tenant. Locks
  /// of other libraries (a `dialect`) are `errc::unsupported` for a tenant, since their keys have
  /// no such beginning. See docs/security.md.
  std::string tenant{};

  /// User name and password. Where not empty, they win over those in the URL, which other programs
  /// can often see. They are never shown in any message.
  std::string username{};
  std::string password{};  ///< Goes with `username`.

  /// A file with the password in its first line. The client reads it again at every log-in, so the
  /// password can be changed while the program runs. Where not empty, it wins over `password` and
  /// the URL.
  ///
  /// If a log-in fails, also because the file cannot be read, calls get `errc::authentication`.
  /// While calls are made, the client tries to log in again once per second.
  ///
  /// A relative path, of this and of all files here, counts from the directory in which the process
  /// is when the client is made.
  std::string password_file{};

  /// Gives logins that end, such as the tokens of managed services. It wins over `password` and the
  /// URL, and is refused together with `password_file` (`errc::invalid_argument`).
  ///
  /// The client asks it when it wants its first connection. It asks again before the end: when 70
  /// to 80 % of `login::valid_for` have passed. It also asks again when a server has refused the
  /// login. Each new login is sent (AUTH) on the connections that are there, and what is under way
  /// on them goes on. New connections use the newest login.
  ///
  /// If it throws, the client goes on with the old login as long as that works, and asks again
  /// after 100 ms, later every 5 s. Calls that need a connection and have no good login fail with
  /// `errc::authentication` and the text of the exception, which must contain no secret.
  /// `event_type::login_failed` tells of it, and of a login that was refused.
  ///
  /// It may block. It runs on a thread of its own, one call at a time for each client. Several
  /// clients may call it at the same time. A connection waits for it no longer than
  /// `connect_timeout`. It must not use or own its client. All signals are blocked on that thread,
  /// also for processes that it starts.
  ///
  /// The end of the client waits for a call under way, for `response_timeout` at most. A call that
  /// takes longer goes on afterwards, and its result is dropped. So it must own what it uses.
  std::function<login()> credentials{};

  /// User name and password of the sentinels in a `redis+sentinel://` URL, which has only those of
  /// the server. They are never shown in any message.
  std::string sentinel_username{};
  std::string sentinel_password{};  ///< Goes with `sentinel_username`.

  /// As `password_file`, for the sentinels. The client reads it again whenever it connects to a
  /// sentinel. It wins over `sentinel_password`.
  std::string sentinel_password_file{};

  /// Only with `rediss://`, `rediss+sentinel://` and `rediss+cluster://`.
  tls_options tls{};

  /// Only where the URL names sentinels. The client speaks to them over TLS with these options, and
  /// with none of `tls`, whether their servers are spoken to over TLS (`rediss+sentinel://`) or
  /// not. Unset: as the servers.
  std::optional<tls_options> sentinel_tls{};

  /// Only with `rediss+sentinel://`: speaks to the sentinels without TLS.
  ///
  /// An attacker on the way can then read their password, and can name any server for the master.
  /// That server must still prove itself, but as the host that the attacker has named. So let `tls`
  /// trust an authority that issues to these servers alone.
  bool insecure_plain_sentinels = false;

  /// How long a thread looks for its answer before it sleeps, if no other thread waits for one over
  /// the same connection: zero (never) to 1 s. Looking halves the latency on one machine, and costs
  /// processor time. If the server is seen to share the thread's core, the thread does not look.
  std::chrono::microseconds spin{50};

  /// How long this client accepts no new grants after it has noticed that another server is behind
  /// its connection (a failover, a restart): zero (the default) to 24 h.
  ///
  /// It gives time to leases that the new server has never heard of: they end where they are
  /// believed. Leases that the server confirms live on. All clients must set it, to the longest
  /// lease in use. Meanwhile a call that asks once gets `unavailable`, and a call that waits goes
  /// on waiting. Not for a cluster (`errc::unsupported`). See docs/topologies.md.
  std::chrono::milliseconds quarantine{0};

  /// How many replicas must have a grant before it counts, so that a failover to any of them keeps
  /// it: 0 (the default) to 100. In a cluster these are replicas of the slot's master. Not for the
  /// members of a quorum (`errc::unsupported`).
  ///
  /// Each grant by the server then costs two more round trips. Replicas have half the
  /// `response_timeout` to confirm it, or half the lease if that is less. If too few do so, the
  /// grant is given back, and the acquisition fails with `errc::no_replicas`, as much as that time
  /// after its timeout perhaps. While replicas are asked about some grants, others may come. The
  /// client asks about all of those together, next. That wait comes on top.
  ///
  /// The client does not wait until replicas have renewals, changes of mode, latches and barriers.
  /// See docs/topologies.md.
  std::uint32_t min_replicas = 0;

  /// Whether these replicas must have the grant on disk. `errc::invalid_argument` without
  /// `min_replicas`.
  ///
  /// It uses WAITAOF, which servers have from Redis 7.2 on (`errc::unsupported` otherwise), and
  /// needs replicas with `appendonly yes`. They then have three quarters of the `response_timeout`,
  /// since `appendfsync everysec` takes a second.
  bool replicas_fsync = false;

  /// How waiters learn that it is their turn. A client that may not subscribe, or that cannot speak
  /// RESP3 with its server, polls in any case.
  holdfast::wakeup wakeup = holdfast::wakeup::notification;

  /// Whether the client looks for threads that wait for each other's locks, among the clients with
  /// this option, of all processes.
  ///
  /// One thread of a cycle gets `errc::would_deadlock` with the names in the cycle, as a rule the
  /// thread whose waiting closed it. All others go on waiting. A wait of more than 20 ms costs a
  /// command, and one more each 1.5 s. Shorter waits cost none. Cycles of more than 100 waits are
  /// not found. docs/kinds.md says which kinds are followed. Not for a cluster
  /// (`errc::unsupported`).
  bool detect_deadlocks = false;

  /// Hears what happens to the locks of this client, for metrics, traces and logs. Null, the
  /// default: nobody does, and that costs nothing. See docs/metrics.md.
  std::shared_ptr<holdfast::observer> observer{};

  /// Which locks of this client have an audit trail: a pattern over names, with `*`, `?`, `[...]`
  /// and `\` as in a shell, such as "orders:*". At most 512 bytes. Empty, the default: none has,
  /// and that costs nothing.
  ///
  /// The client writes to the stream `hf:trail` of the server when it is granted such a lock, and
  /// how the grant ends. `inspector::audit` and `holdfast audit` read that. It writes in batches,
  /// about ten commands a second, and no call waits for them. So the trail depends on a client that
  /// can write: what is granted less than about 100 ms before a crash may be missing. The trail has
  /// the last 10,000 entries of all clients, one for each grant and each end.
  ///
  /// It is for Holdfast's own locks, on one server or in a cluster: not for locks of a quorum, of
  /// other libraries (a `dialect`), and of `memory:` (`errc::unsupported`). The user needs the
  /// rights of `holdfast acl --kind audit`. See docs/security.md.
  std::string audit{};

  /// Gets lines for the log of a service: leases that were lost or renewed late, releases that were
  /// not confirmed, other servers, an observer that has thrown. A line is one sentence without a
  /// line end. It names locks and servers, and contains no password. Empty, the default: no lines.
  ///
  /// It is called as an `observer` is, on the same threads. Its exceptions are ignored.
  std::function<void(log_level, std::string_view)> log{};
};

/// Whether a lease is renewed in the background until it is released.
enum class renewal {
  automatic,  ///< Renewed at a third of the lease while the process lives. The default.
  none,       ///< A fixed lease: it ends after `lease` unless `lease::extend()` is called.
};

/// Whether grants carry a fencing token.
enum class fencing {
  on,  ///< Every grant has a token. The default.
  /// No token: one plain SET instead of a script. For locks that only save work. The SET carries no
  /// not-after, so the server cannot refuse a late copy of it: that takes the lock for one lease
  /// with nobody behind it. If the key holds something that is no lock of ours, the error is merely
  /// `busy`.
  off,
};

/// What becomes of a thread that waits for a lock that it holds itself.
enum class reentry {
  refused,  ///< `errc::would_deadlock` at once. The default.
  waits,    ///< It waits: another thread, which was given the lease, may release it.
};

/// How a mutex behaves.
struct mutex_options {
  /// How long the server keeps the lock without hearing from us: 10 ms to 24 h. Unset: the client's
  /// `default_lease`.
  std::optional<std::chrono::milliseconds> lease{};

  /// Whether the lease is renewed in the background.
  holdfast::renewal renewal = holdfast::renewal::automatic;

  /// Whether grants carry a fencing token.
  holdfast::fencing fencing = holdfast::fencing::on;

  /// Whether waiters of all processes get the lock in strict order of arrival. Otherwise (the
  /// default) the threads and coroutines of one client hand it over among themselves for a few
  /// milliseconds before others get their turn. That is many times faster.
  bool fair = false;

  /// How long the client may keep the lock after the last release, so that acquiring it again costs
  /// no command: zero (the default: not at all) to 1 h. Not with `fair` or `renewal::none`.
  ///
  /// The client gives the lock back when half to all of that time has passed without use. Another
  /// client that waits for the lock gets it at once. A client that asks once is refused, but finds
  /// the lock free when it asks again. If this process is frozen meanwhile, others get the lock
  /// when the lease ends.
  ///
  /// Neither that release nor acquiring again asks the server. The lock may have been taken away
  /// meanwhile (`inspector::break_lock`). It is then released with success, and may be acquired
  /// here once more, until a renewal tells of the loss: after about a third of the lease. Resources
  /// that have seen the token of the next holder refuse the tokens of this one.
  std::chrono::milliseconds retain{0};

  /// How many may wait in the queue on the server; the next gets `queue_full`. The threads of a
  /// client count as one, unless the lock is `fair`. A waiter that has crashed may count until the
  /// next hand-over. Zero: nobody may wait.
  std::uint32_t queue_limit = 100'000;

  /// How long nobody gets the lock after a lease that ended without a release: zero (the default)
  /// to 1 h.
  ///
  /// The delay is for resources that cannot check tokens. It gives work that the dead or frozen
  /// holder has started the time to finish. A release hands over at once, as always. So does the
  /// end of a lease that a client only retained (`retain`), unless that client is dead or frozen.
  std::chrono::milliseconds lock_delay{0};

  /// What becomes of a thread that blocks on a lock that it holds itself. This is about locks that
  /// only one can hold. The thread must have acquired the lock by blocking, through this client,
  /// with the same options, and the lease must still be held. A call that asks once gets `busy`.
  /// Coroutines are not checked. See `recursive_mutex`.
  holdfast::reentry reentry = holdfast::reentry::refused;
};

/// How long one acquisition may wait. A stop token, which may end it early, is an argument of its
/// own.
struct acquire_options {
  /// How long to wait. Unset: `acquire` waits for the client's `default_timeout`, `try_acquire`
  /// asks once. Zero: asks once. `forever` is allowed. A negative timeout is not
  /// (`errc::invalid_argument`).
  std::optional<std::chrono::milliseconds> timeout{};
};

}  // namespace holdfast
