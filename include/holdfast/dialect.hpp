/// \file
/// How a lock is written in Redis: in Holdfast's own way, or as another library does.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/detail/export.hpp>

namespace holdfast {

namespace detail {
struct lock_access;
}
namespace dialects {
class foreign_recipe;
}

/// What the value of a plain lock looks like. It is drawn anew for each attempt, as text.
enum class token_form {
  hex,      ///< 32 hexadecimal digits: uuid without hyphens, as redis-py writes it.
  uuid,     ///< 32 hexadecimal digits with hyphens.
  letters,  ///< 16 letters and digits, as go-zero writes it.
};

/// The layout that most libraries and hand-written locks have: one text that `SET NX PX` has
/// written. A client that knows the text deletes it. None of them depends on the form of the text,
/// as long as no two holders write the same. docs/migrating.md says which key each library has.
///
/// The texts that this layout or any layout below names are copied when the dialect is made from
/// it. They must live until then.
struct token_layout {
  std::string_view key_prefix{};       ///< Stands before the lock's name,
  std::string_view key_suffix{};       ///< and this behind it; all together are the key.
  token_form value = token_form::hex;  ///< How a drawn value is written.
  std::string_view value_prefix{};     ///< Stands before a drawn value.

  /// The whole value to write, where a drawn one will not do; empty (the default): it is drawn. All
  /// that write the same value are one holder for the server. So a release may free what another of
  /// them was granted since.
  std::string_view fixed_value{};

  /// The lease of locks that do not name their own. Unset: the client's `default_lease`.
  std::optional<std::chrono::milliseconds> lease{};

  /// A waiter asks again after this time, or up to twice as long: 1 ms to 1 h. Nobody is notified
  /// when such a lock is released.
  std::chrono::milliseconds retry_interval{100};
};

/// Which of Redisson's locks on one hash, or of its semaphores.
enum class redisson_lock {
  plain,  ///< `RLock`: releases are told on a channel.
  /// `RSpinLock`: releases are not told, so a waiter asks again after 64 ms, or up to twice as
  /// long.
  spin,
  fenced,     ///< `RFencedLock`: told, and each acquisition has a token.
  expirable,  ///< `RPermitExpirableSemaphore`, for `client::semaphore` alone.
};

/// How waiters for a lock of a `spring_registry` learn that it is free.
enum class registry_mode {
  spin,     ///< SPIN_LOCK, Spring's default: they ask again and again.
  pub_sub,  ///< PUB_SUB_LOCK: every release is told on a channel.
};

/// A `RedisLockRegistry` of Spring Integration, as all users of its locks have set it up.
struct spring_registry {
  std::string_view registry_key{};  ///< Stands before the lock's name, and a colon. Not empty.
  registry_mode mode = registry_mode::spin;  ///< The `RedisLockType` of the registry.

  /// Spring's `idleBetweenTries`: a waiter that cannot be notified asks again after this time, or
  /// up to twice as long. 1 ms to 1 h.
  std::chrono::milliseconds idle_between_tries{100};
};

/// The Redis lock provider of ShedLock, and how long its locks last.
struct shedlock_provider {
  std::string_view environment = "default";  ///< The key is KEY_PREFIX:ENVIRONMENT:NAME.
  std::string_view key_prefix = "job-lock";  ///< Stands first in the key.

  /// `lockAtLeastFor`: zero (the default) to 24 h, and not longer than the lease, which is
  /// `lockAtMostFor`. If the lock is given back sooner after it was acquired, it stays locked for
  /// the rest. Such a lock has no local hand-over.
  std::chrono::milliseconds at_least_for{0};

  /// A waiter asks again after this time, or up to twice as long: 1 ms to 1 h. ShedLock itself
  /// never waits: if the lock of a job is not free, it leaves the job out.
  std::chrono::milliseconds retry_interval{100};
};

/// Which library's way of writing a lock of Redlock's algorithm.
enum class redlock_library {
  redsync,       ///< Go. 24 letters of base64; lease 8 s; asks again after 50 to 250 ms.
  node_redlock,  ///< JavaScript, `redlock`. 32 hexadecimal digits; asks again after 100 to 300 ms.
};

/// A lock of Redlock's algorithm: the same text on a majority of independent servers, or on one.
struct redlock_layout {
  redlock_library library = redlock_library::redsync;  ///< The library that the other users have.

  /// Resources that are locked together with the lock's name, all or nothing, in one script on each
  /// server, as node-redlock's `acquire([...])` does: fewer than 100, and none twice. All are keys
  /// as they stand here. Each excludes those that want it alone.
  std::span<const std::string> further_resources{};

  /// A waiter asks again after this time, or up to twice as long: 1 ms to 1 h. Unset: as the
  /// library does. Nobody is notified when such a lock is released.
  std::optional<std::chrono::milliseconds> retry_interval{};
};

/// A `Locker` of rueidislock, as all users of its locks have set it up.
struct rueidis_locker {
  std::string_view key_prefix = "rueidislock";  ///< Not empty.
  /// A lock has twice as many keys, less one. A client that has this many of them has the lock. 1
  /// to 50.
  std::uint32_t key_majority = 2;
};

/// A `RedisStore` of Symfony's Lock component, as all users of its locks have set it up.
struct symfony_store {
  std::string_view key_prefix{};  ///< Stands before the lock's name: the key is both.

  /// A waiter asks again after this time, or up to twice as long: 1 ms to 1 h. Nobody is notified
  /// when such a lock is released. Symfony's own waiters ask every 90 to 110 ms.
  std::chrono::milliseconds retry_interval{100};
};

/// A `Semaphore` or `MultiSemaphore` of redis-semaphore, as all users of its permits have set it
/// up.
struct redis_semaphore_layout {
  /// `lockTimeout`, the same for all users: each takes back whatever was not refreshed for that
  /// long by its own clock. So a lease is that long when not said, and never longer. 10 ms to 24 h.
  std::chrono::milliseconds lock_timeout{10'000};

  /// `retryInterval`: a waiter asks again after this time, or up to twice as long. 1 ms to 1 h.
  std::chrono::milliseconds retry_interval{10};
};

/// How a lock is written in Redis: an argument of the functions that make locks (`client::mutex`).
///
/// In another library's layout a lock excludes that library's users too: both keep the same key.
/// Deadline, loss signal and renewal are as all leases have. docs/migrating.md compares the
/// libraries.
///
/// Such a layout has no place for some things. They are refused (`errc::unsupported`):
///
/// - The options `retain`, `lock_delay` and `queue_limit`.
/// - The option `fair`, except for a mutex of `redisson()`, which is then Redisson's
///   `RFairLock`.
/// - Kinds other than `client::mutex` and `recursive_mutex`. The exceptions:
///   `client::read_write_lock` of `redisson()` and `symfony()`; `client::semaphore` of
///   `redisson()`, `redisson(redisson_lock::expirable)` and `redis_semaphore()`; `client::latch` of
///   `redisson()`.
/// - A mutex of `redisson(redisson_lock::expirable)` and of `redis_semaphore()`.
/// - `quorum::mutex`, except of `redlock()`.
/// - Any dialect for a client of a tenant (`client_options::tenant`).
/// - In a cluster, a layout in which the keys of this lock have several hash slots.
///
/// Leases have no fencing token. There are two exceptions: the layout has one
/// (`redisson_lock::fenced`), or `with_fence_counter` adds it. Then `fencing::off` is refused.
///
/// Locks whose dialects are copies of one object are one lock to this client, with local hand-over
/// among its threads. Otherwise they meet on the server only.
///
/// Thread safety: a value type, immutable.
class HOLDFAST_EXPORT dialect {
 public:
  dialect() noexcept = default;  ///< Holdfast's own.

  /// Redisson's `RLock`: a hash, a counter of holds, a message when it is released. Lease: 30 s.
  /// Waiters here are notified as Redisson's own waiters are.
  ///
  /// With `plain`, `client::read_write_lock` is its `RReadWriteLock`, a mutex with `fair` its
  /// `RFairLock`, `client::semaphore` its `RSemaphore`, and `client::latch` its `RCountDownLatch`.
  /// The token of a `fenced` lock is Redisson's, the same counter for all users of the lock. Such a
  /// lock has no local hand-over.
  static dialect redisson(redisson_lock which = redisson_lock::plain);

  /// go-zero's `RedisLock`, which the server keeps for 500 ms longer than it says. A waiter asks
  /// again after 100 ms, or up to twice as long.
  static dialect go_zero();

  /// `Lock` of redis-py. Its own locks end only when they were given a `timeout`; ours always do.
  static dialect redis_py();

  /// The usual lock written by hand over Jedis: the key as it is, the caller's id as the value.
  /// Lease: 30 s. A waiter asks again after 100 ms, or up to twice as long.
  /// Throws `failure`: `invalid_argument` when the id is empty.
  static dialect jedis(std::string_view id);

  /// The usual lock over Spring's RedisTemplate: key and code are the caller's, 30 s, 50 ms. Throws
  /// `failure`: `invalid_argument` when the code is empty.
  static dialect spring_template(std::string_view code);

  /// As `spring_template`, with a thread-local value: the prefix `LOCK_`, 15 s, 500 ms.
  static dialect reentrant_thread_local();

  /// `RedisLockRegistry` of Spring Integration. Lease: 60 s.
  /// Throws `failure`: `invalid_argument`.
  static dialect spring_integration(const spring_registry& registry);

  /// `Lock` of python-redis-lock. Waiters that use that library are woken by our releases. A waiter
  /// here asks again after 100 ms, or up to twice as long, since BLPOP would block the connection
  /// for all. That library's own locks end only when they were given an `expire`; ours always do.
  static dialect python_redis_lock();

  /// ShedLock over Redis. A lease is `lockAtMostFor`, and is renewed as by its
  /// `KeepAliveLockProvider`.
  /// Throws `failure`: `invalid_argument`.
  static dialect shedlock(const shedlock_provider& provider = {});

  /// `Mutex` of redsync, `Lock` of node-redlock. Use it over `quorum::mutex` for users of several
  /// servers, and with `client::mutex` for users of one.
  /// Throws `failure`: `invalid_argument`, `invalid_name`.
  static dialect redlock(const redlock_layout& layout = {});

  /// rueidislock's lock, all of whose keys must be on one server. Lease: 5 s. The server notifies
  /// waiters here as it notifies rueidislock's own (CLIENT TRACKING). Where it cannot, the key is
  /// read every 250 ms.
  /// Throws `failure`: `invalid_argument`.
  static dialect rueidislock(const rueidis_locker& locker = {});

  /// Symfony's `RedisStore`, of symfony/lock 5.2 and later. `client::mutex` and the writer of
  /// `client::read_write_lock` are its `acquire()`, a reader is its `acquireRead()`. Lease: 300 s,
  /// as that of a Symfony lock whose maker said nothing. Changes between reader and writer, which
  /// Symfony has, are refused. A lock of Symfony before 5.2 is a `token`. It keeps these locks out,
  /// too.
  /// Throws `failure`: `invalid_argument`.
  static dialect symfony(const symfony_store& store = {});

  /// `Semaphore` and `MultiSemaphore` of the npm package redis-semaphore, of one server, for
  /// `client::semaphore` alone; its mutexes are a `token`. Each user says how many permits there
  /// are. Holdfast takes times from the server's clock, that library from the clocks of its
  /// clients. All clocks must agree to a fifth of `lock_timeout`: see docs/wire/redis_semaphore.md.
  /// Throws `failure`: `invalid_argument`.
  static dialect redis_semaphore(const redis_semaphore_layout& layout = {});

  /// Any other lock of this form.
  /// Throws `failure`: `invalid_argument`.
  static dialect token(const token_layout& layout);

  /// This dialect, where each grant has a fencing token from a counter of Holdfast's beside the
  /// lock.
  ///
  /// The token is larger than those of all grants to Holdfast's holders before. Only Holdfast's
  /// holders draw or show one. So a resource that refuses old tokens is safe from late holders of
  /// ours, not from those of the other library. Such a lock has no local hand-over.
  ///
  /// Throws `failure`: `unsupported`, except for `go_zero`, `redis_py`, `jedis`, `spring_template`,
  /// `reentrant_thread_local`, `spring_integration`, `python_redis_lock` and `token`. Redisson has
  /// `redisson_lock::fenced`, whose tokens all its users share.
  [[nodiscard]] dialect with_fence_counter() const;

  /// "holdfast", "redisson", "go_zero", "spring_integration", "python_redis_lock", "shedlock",
  /// "redlock", "rueidislock", "symfony", "redis_semaphore" or "token".
  [[nodiscard]] std::string_view name() const noexcept;

  /// The longest lease that such a lock can have; a longer one is refused. Nothing: as all locks.
  [[nodiscard]] std::optional<std::chrono::milliseconds> longest_lease() const noexcept;

  /// Copies of one object are equal, and so are all of Holdfast's own.
  friend bool operator==(const dialect&, const dialect&) noexcept = default;

 private:
  friend struct detail::lock_access;
  explicit dialect(std::shared_ptr<const dialects::foreign_recipe> recipe) noexcept
      : recipe_(std::move(recipe)) {}

  std::shared_ptr<const dialects::foreign_recipe> recipe_;  // null: Holdfast's own
};

}  // namespace holdfast
