/// \file
/// The options of clients, locks and acquisitions: plain structs with documented defaults.
///
/// Those of locks and acquisitions own nothing (they are trivially destructible), so that they may
/// be written where a coroutine awaits: GCC 12 destroys such a temporary twice. A `std::stop_token`
/// and a `dialect` own memory, so each is an argument of its own. With GCC 12, make a client that
/// has options in braces, and locks of a list in braces (`all_of({a, b})`, which it does not
/// compile there), in a line of their own before the one that awaits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace holdfast {

/// A timeout that never ends. Only where a caller writes it down does Holdfast wait for ever.
inline constexpr std::chrono::milliseconds forever = std::chrono::milliseconds::max();

/// How those who wait hear that a lock was handed to them.
enum class wakeup {
  notification,  ///< The server says so at once. The default.
  poll,          ///< They ask often. For servers and proxies that do not pass messages on.
};

/// Over TLS (`rediss://`): whom to trust, and who we are. TLS 1.2 or later; the server's
/// certificate must come from a trusted authority and name the host of the URL, be it a name or an
/// address.
///
/// Files are in PEM form. They are looked at when the client is made (`errc::invalid_argument`) and
/// read anew for each connection, so that a renewed certificate needs no restart. Given with a URL
/// that is not for TLS, options are refused: somebody would believe himself safe.
struct tls_options {
  /// The authorities to trust, in a file, or in a directory as `openssl rehash` makes it. Both
  /// empty: those of the system, or of the environment's SSL_CERT_FILE and SSL_CERT_DIR.
  std::string ca_file{};
  std::string ca_directory{};

  /// Our own certificate, for servers that demand one, with those of the authorities between. The
  /// key has no passphrase; without `key_file` it stands in the same file.
  std::string certificate_file{};
  std::string key_file{};

  /// What the certificate must name instead of the URL's host, for example behind a tunnel.
  std::string server_name{};

  /// Believes whoever answers: anybody on the way can read and change everything, the password
  /// and the locks. For experiments only.
  bool insecure_accept_any_certificate = false;

  bool operator==(const tls_options&) const = default;
};

/// How a client talks to its server. What is out of its range is refused when the client is made
/// (`errc::invalid_argument`).
struct client_options {
  /// How long connecting (name look-up, TCP, log-in) may take in all: 1 ms to 10 min.
  std::chrono::milliseconds connect_timeout{2000};

  /// How long the server may take to answer one command. After it the connection counts as broken,
  /// is closed, and what was asked on it is asked again. 1 ms to 10 min.
  std::chrono::milliseconds response_timeout{2000};

  /// The lease of locks that do not name their own: 10 ms to 24 h.
  std::chrono::milliseconds default_lease{30'000};

  /// How long `lock::acquire()` waits when the call does not say. Zero: it asks once. `forever` is
  /// allowed.
  std::chrono::milliseconds default_timeout{60'000};

  /// Who we are in `holdfast status`, which shows the first 128 bytes. At most 256. Empty: the
  /// program's name.
  std::string name{};

  /// Whose locks and values these are, where several tenants share a server: 1 to 64 letters,
  /// digits, `.`, `_` and `-`. All keys and channels of this client begin with `hf:@NAME:` then, so
  /// that the server's users can be kept from those of others (`holdfast acl --tenant NAME`). The
  /// same name of a lock is another lock for each tenant. Locks of other libraries (a `dialect`)
  /// are `errc::unsupported` then, since their keys have no such beginning. Empty, the default: no
  /// tenant, and `hf:`. See docs/security.md.
  std::string tenant{};

  /// User name and password; where not empty they win over those in the URL, which other
  /// programs can often see. Never shown in any message.
  std::string username{};
  std::string password{};

  /// A file with the password in its first line, read again at every log-in, so that the password
  /// can be changed while the program runs. Where not empty it wins over `password` and the URL. A
  /// log-in that fails, also since the file cannot be read, is `errc::authentication` for what is
  /// asked then, and is tried again once per second while anything is asked. A relative path, as of
  /// all files here, counts from the directory in which the process is when the client is made.
  std::string password_file{};

  /// User name and password of the sentinels in a `redis+sentinel://` URL, which has only those of
  /// the server. Never shown in any message.
  std::string sentinel_username{};
  std::string sentinel_password{};

  /// The same as `password_file` for the sentinels: read again whenever one is connected to, it
  /// wins over `sentinel_password`.
  std::string sentinel_password_file{};

  /// Only with `rediss://`, `rediss+sentinel://` and `rediss+cluster://`.
  tls_options tls{};

  /// Only where the URL names sentinels: they are spoken to over TLS with these options, whether
  /// their servers are (`rediss+sentinel://`) or not, and with none of `tls`. Unset: as the
  /// servers.
  std::optional<tls_options> sentinel_tls{};

  /// Only with `rediss+sentinel://`: speaks to the sentinels without TLS. Whoever is on the way
  /// then reads their password, and names any server for the master: it has to prove itself still,
  /// but as the host that he named. So let `tls` trust an authority that issues to these servers
  /// alone.
  bool insecure_plain_sentinels = false;

  /// How long a thread looks for its answer before it sleeps, if no other waits for one over the
  /// same connection. It halves the latency on one machine and costs processor time while it looks;
  /// where the server is seen to share the thread's core, it does not look. Zero (never) to 1 s.
  std::chrono::microseconds spin{50};

  /// For so long after this client has noticed that the server behind its connection is another one
  /// (a failover, a restart), it accepts no new grants, while leases that the server confirms live
  /// on: time for leases that the server has never heard of to end where they are believed. All
  /// clients must set it, to the longest lease in use. Asking once gets `unavailable` meanwhile,
  /// waiting goes on. Zero (the default) to 24 h. See docs/topologies.md.
  std::chrono::milliseconds quarantine{0};

  /// How many replicas must have a grant before it counts, so that a failover to any of them keeps
  /// it: 0 (the default) to 100. Each grant by the server costs two more round trips then. If not
  /// so many say that they have it within half the `response_timeout` (or half the lease, if that
  /// is less), it is given back and the acquisition fails with `errc::no_replicas`, by so much
  /// later than its timeout perhaps. Replicas are asked about all grants together that have come
  /// while they were asked before: that comes on top. In a cluster those of the slot's master are
  /// meant. Not for quorums. What replicas have heard of renewals, changes of mode, latches and
  /// barriers is not waited for. See docs/topologies.md.
  std::uint32_t min_replicas = 0;

  /// Whether they must have it on disk: with WAITAOF, which servers have from Redis 7.2 on
  /// (`errc::unsupported` otherwise), and with replicas that have `appendonly yes`. They have
  /// three quarters of the `response_timeout` then, since `appendfsync everysec` takes a second.
  /// `errc::invalid_argument` without `min_replicas`.
  bool replicas_fsync = false;

  /// How those who wait hear of their turn. A client that may not subscribe, or that cannot speak
  /// RESP3 with its server, polls in any case.
  holdfast::wakeup wakeup = holdfast::wakeup::notification;

  /// Whether threads of clients with this option, of all processes, that wait for each other's
  /// locks are found: one of them gets `errc::would_deadlock` with the names in the cycle, as a
  /// rule the one whose waiting closed it; all others go on waiting. A wait of more than 20 ms
  /// costs a command then, and one more each 1.5 s; all others cost none. Cycles of more than 100
  /// waits are not found. Which kinds are followed: docs/kinds.md.
  bool detect_deadlocks = false;
};

/// Whether a lease is renewed in the background until it is released.
enum class renewal {
  automatic,  ///< Renewed at a third of the lease while the process lives. The default.
  none,       ///< A fixed lease: it ends after `lease` unless `lease::extend()` is called.
};

/// Whether grants carry a fencing token.
enum class fencing {
  on,  ///< Every grant has a token. The default.
  /// No token: one plain SET instead of a script. For locks that only save work. The SET carries
  /// no time after which it is refused: a copy that arrives late takes the lock for one lease with
  /// nobody behind it. And it finds a key that is no lock of ours merely `busy`.
  off,
};

/// What becomes of a thread that waits for a lock that it has itself.
enum class reentry {
  refused,  ///< `errc::would_deadlock` at once. The default.
  waits,    ///< It waits: the lease may be released by another thread that it was given to.
};

/// How a lock behaves.
struct lock_options {
  /// How long the server keeps the lock without hearing from us: 10 ms to 24 h.
  /// Unset: the client's `default_lease`.
  std::optional<std::chrono::milliseconds> lease{};

  /// Whether the lease is renewed in the background.
  holdfast::renewal renewal = holdfast::renewal::automatic;

  /// Whether grants carry a fencing token.
  holdfast::fencing fencing = holdfast::fencing::on;

  /// Strict order of arrival among all who wait, of all processes. Otherwise the threads and
  /// coroutines of one client pass the lock on among themselves for a few milliseconds before
  /// others get their turn, which is many times faster.
  bool fair = false;

  /// How long the client may keep the lock after the last release, so that acquiring it again
  /// costs no command; it is given back when half to all of that has passed without use. Whoever
  /// else waits for the lock gets it at once, and who asks once is refused but finds it free when
  /// he asks again; should this process be frozen meanwhile, when the lease ends. Zero (not at all)
  /// to 1 h. Not with `fair` or `renewal::none`.
  ///
  /// Neither that release nor acquiring again asks the server: a lock that was taken away meanwhile
  /// (`inspector::break_lock`) is released with success, and may be acquired here once more, until
  /// a renewal tells of the loss: after about a third of the lease. Resources that have seen the
  /// token of the next holder refuse those of this one.
  std::chrono::milliseconds retain{0};

  /// How many may wait at the server, a client's threads as one unless `fair`; else `queue_full`.
  /// Who has crashed may count until the lock is passed on. Zero: nobody.
  std::uint32_t queue_limit = 100'000;

  /// For so long after a lease that ended without a release, nobody gets the lock: time for what
  /// the dead or frozen holder has set going to come to an end, where tokens cannot be checked. A
  /// release hands over at once, as always; so does what a client only kept (`retain`) when its
  /// lease ends, unless that client is dead or frozen. Zero (the default) to 1 h.
  std::chrono::milliseconds lock_delay{0};

  /// What becomes of a thread that blocks on a lock only one can hold, which it has acquired itself
  /// (blocking, through this client, with the same options) and whose lease is still held. What is
  /// asked once gets `busy`; what coroutines ask for is not looked at. See `recursive_mutex`.
  holdfast::reentry reentry = holdfast::reentry::refused;
};

/// How long one acquisition may wait. What may end it early is an argument beside it.
struct acquire_options {
  /// How long to wait. Unset: `acquire` waits the client's `default_timeout`, `try_acquire` asks
  /// once. Zero: asks once. `forever` is allowed, a negative one is not (`errc::invalid_argument`).
  std::optional<std::chrono::milliseconds> timeout{};
};

}  // namespace holdfast
