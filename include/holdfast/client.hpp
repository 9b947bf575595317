/// \file
/// The way in: a client of one server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/barrier.hpp>
#include <holdfast/counter.hpp>
#include <holdfast/dialect.hpp>
#include <holdfast/election.hpp>
#include <holdfast/fenced.hpp>
#include <holdfast/id_generator.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/mode_lock.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>

namespace holdfast {

/// A client of one Redis or Valkey server, of the master of a service under Redis Sentinel, or of a
/// Redis Cluster (Redis 7.0 or later, Valkey 8.0 or later).
///
/// It has one connection (to each master of a cluster), opened at the first use and reopened when
/// it breaks, and shares it among all threads. Destroying the last copy (and the last lock and
/// lease made from it) sends what is left to release, waits for it at most `response_timeout`, and
/// closes the connection.
///
/// URLs: `redis://[user:password@]host[:port][/db]` (or `valkey://`), the same with `rediss://` (or
/// `valkeys://`) for TLS, see `tls_options`;
/// `redis+sentinel://[user:password@]host[:port],.../service[/db]` (the server that these sentinels
/// name as the master of the service, also after a failover: docs/topologies.md),
/// `redis+cluster://[user:password@]host[:port],...` (some nodes of a Redis Cluster: same page),
/// both over TLS as `rediss+...`,
/// `unix://[user:password@]/path/to/socket[?db=N]`, `embedded:` (a private server that ends with
/// this client), `embedded:/path/to/directory` (one shared by all processes of the user that name
/// the directory; it lives on for the milliseconds that the environment variable
/// HOLDFAST_EMBEDDED_LINGER gives its starter, 30,000 when not set, after the last of them).
/// `?protocol=2` at the end (`&protocol=2` behind `?db=N`) is for proxies that know no HELLO.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads.
/// The client is closed when its last handle goes; leases and locks are handles, too. A callback,
/// of whatever client, does not wait for that: another thread closes it, and callbacks of the
/// closed client may still run meanwhile.
/// A thread that is cancelled (pthread_cancel) inside a call of this library ends after the call
/// has returned.
/// After fork() the child must make a client of its own; using the old one gives `errc::forked`.
/// A coroutine inside `sync_wait` may fork, and goes on in the child, too; what other coroutines
/// there wait for never comes. A child that is forked in a callback has all signals blocked, as the
/// callback has, and ends when the callback returns.
class client {
 public:
  /// Throws `failure`: `invalid_url`, `invalid_argument`, `unsupported`, `embedded_server`.
  /// Does not connect: a server that is not there is reported by the first operation.
  explicit client(std::string_view url);
  client(std::string_view url, client_options options);

  /// A lock that one holder at a time can have. `name`: 1 to 512 bytes of any value. `how` it is
  /// written in Redis: as another library does, to share the lock with its users; then `fencing`
  /// means nothing. Throws `failure`: `invalid_name`, `invalid_argument`, `unsupported`.
  [[nodiscard]] lock mutex(std::string_view name, const lock_options& options = {},
                           const dialect& how = {}) const;

  /// A lock that its holder may acquire again. `reentry` means nothing here. Throws as `mutex`.
  [[nodiscard]] holdfast::recursive_mutex recursive_mutex(std::string_view name,
                                                          const lock_options& options = {},
                                                          const dialect& how = {}) const;

  /// A lock that many readers or one writer can hold. Of the options `fencing` and `retain` mean
  /// nothing here: tokens are always given. With `dialect::redisson()` it is Redisson's
  /// `RReadWriteLock`, which has neither tokens nor an order. Throws as `mutex`, and `unsupported`
  /// with any other dialect.
  [[nodiscard]] read_write_lock rw(std::string_view name, const lock_options& options = {},
                                   const dialect& how = {}) const;

  /// A lock with permits; with `dialect::redisson()` one of Redisson's semaphores. Throws as
  /// `mutex`.
  [[nodiscard]] holdfast::semaphore semaphore(std::string_view name,
                                              const semaphore_options& options = {},
                                              const dialect& how = {}) const;

  /// A lock with the six modes of the classic lock managers. Options as in `rw`. Throws as `mutex`.
  [[nodiscard]] holdfast::mode_lock mode_lock(std::string_view name,
                                              const lock_options& options = {}) const;

  /// A number that any number of processes change. `name` as for a lock; the two never meet.
  /// Throws `failure`: `invalid_name`.
  [[nodiscard]] holdfast::counter counter(std::string_view name) const;

  /// So many in a second, over all processes. Throws `failure`: `invalid_name`, `invalid_argument`.
  [[nodiscard]] holdfast::rate_limiter rate_limiter(std::string_view name, rate_limit limit) const;

  /// Numbers that nobody gets twice, from a counter. Throws `failure`: `invalid_name`,
  /// `invalid_argument`.
  [[nodiscard]] holdfast::id_generator id_generator(std::string_view name,
                                                    id_options options = {}) const;

  /// Numbers that nobody gets twice, from the time and a machine number that is leased here:
  /// blocks. Throws `failure`: `invalid_name`, `invalid_argument`, `busy` when all machine numbers
  /// are taken, and what `lock::acquire` throws.
  [[nodiscard]] snowflake_generator snowflake(std::string_view name,
                                              const snowflake_options& options = {}) const;

  /// Sets a key of yours, unless a write with a newer token was accepted for it before. Fenced
  /// writes of any kind to one key see each other; plain ones they do not see.
  ///
  /// The last token is kept at `hf:fenced:{T}:KEY`, for ever (a late writer may come at any time):
  /// when you remove KEY for good, remove that too. One command for each call. A call whose answer
  /// is lost is asked again and executed once, as in `counter`; when it fails with `unavailable`,
  /// the message says whether it may have been executed. Throws `failure`: `unsupported` without a
  /// token, `foreign_key`, and what the server refuses.
  fence_verdict fenced_set(std::string_view key, std::string_view value, fencing_token token) const;

  /// The same for fields of a hash: at least one pair of field and value.
  fence_verdict fenced_hset(std::string_view key,
                            const std::vector<std::pair<std::string, std::string>>& fields,
                            fencing_token token) const;

  /// The same for a Lua script of yours, which sees `KEYS` and `ARGV` as usual. There is at least
  /// one key and all are of one hash slot (`invalid_argument` otherwise); it must be let through
  /// for each of them. What it wrote before it raised an error stays written.
  ///
  /// A number that it returns, also in a table, must be below 2^53 (else `server_error`, and what
  /// it wrote stays): Lua rounds larger ones, so return a text. The server runs one script at a
  /// time, and SCRIPT KILL cannot end this one, since the token is written before it runs: it must
  /// end by itself.
  fenced_reply fenced_eval(std::string_view script, const std::vector<std::string>& keys,
                           const std::vector<std::string>& args, fencing_token token) const;

  /// Whoever asks this client for this lock from now on is granted a token larger than `last`: for
  /// a resource that said `stale`, so that it cannot say so again. Sends nothing. A token that is
  /// ten seconds or more ahead of the server's clock, and of its counter, makes acquisitions fail
  /// with `clock_skew` until the clock has come near it.
  void raise_floor(std::string_view lock_name, fencing_token last) const;

  /// An election: who holds it leads. Throws as `mutex`.
  [[nodiscard]] election elect(std::string_view name, election_options options = {}) const;

  /// A number to be counted down, and those who wait for that. With `dialect::redisson()` it is
  /// Redisson's `RCountDownLatch`, shared with its users. A waiter stands in no queue then: it is
  /// told on Redisson's channel and asks again after at most 2 s. If the latch was set again before
  /// it asked, it waits for the next opening. See docs/wire/redisson.md. Throws as `mutex`; and
  /// `unsupported` with a dialect that has no latches.
  [[nodiscard]] holdfast::latch latch(std::string_view name, const dialect& how = {}) const;

  /// A barrier at which so many go on together, 1 to 1,000. Throws as `mutex`.
  [[nodiscard]] holdfast::barrier barrier(std::string_view name, std::uint32_t parties) const;

  /// The server's address in its usual form (`redis://host:6379`), without user and password.
  [[nodiscard]] const std::string& url() const noexcept;

 private:
  friend class inspector;
  friend struct detail::lock_access;
  std::shared_ptr<runtime::client_core> core_;
};

}  // namespace holdfast
