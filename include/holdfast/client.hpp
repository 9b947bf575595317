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
#include <holdfast/detail/export.hpp>
#include <holdfast/dialect.hpp>
#include <holdfast/election.hpp>
#include <holdfast/fenced.hpp>
#include <holdfast/id_generator.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/mode_lock.hpp>
#include <holdfast/once_per.hpp>
#include <holdfast/options.hpp>
#include <holdfast/rate_limiter.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>

namespace holdfast {

/// A client of one Redis or Valkey server, of the master of a service under Redis Sentinel, or of a
/// Redis Cluster. Servers: Redis 6.2 or later and Valkey 8.0 or later; a Redis Cluster 7.0 or
/// later.
///
/// A client has one connection, and in a cluster one to each master. It opens the connection when
/// it first needs it, opens it again when it breaks, and shares it among all threads.
///
/// The client is closed when its last handle goes. Copies of the client are handles, and so are the
/// locks and leases made from it. Closing sends what is left to release, waits for that at most
/// `response_timeout`, and closes the connection. A callback, of whatever client, does not wait for
/// that: another thread closes the client, and callbacks of the closed client may still run
/// meanwhile.
///
/// URLs:
///
/// - `redis://[user:password@]host[:port][/db]`, or `valkey://`: one server.
/// - `rediss://` or `valkeys://`, written in the same way: one server over TLS. See `tls_options`.
/// - `redis+sentinel://[user:password@]host[:port],.../service[/db]`: the server that these
///   sentinels name as the master of the service, also after a failover (docs/topologies.md).
/// - `redis+cluster://[user:password@]host[:port],...`: some nodes of a Redis Cluster (same page).
/// - `rediss+sentinel://`, `rediss+cluster://`: the same two over TLS.
/// - `unix://[user:password@]/path/to/socket[?db=N]`: a server on this machine.
/// - `embedded:`: a private server that ends with this client.
/// - `embedded:/path/to/directory`: a server shared by all processes of the user that name this
///   directory. After the last of them it lives on for 30,000 ms, or for as many as the environment
///   variable HOLDFAST_EMBEDDED_LINGER of the process that started it says.
/// - `memory:` or `memory:NAME`: no server. The locks are in this process, and all its clients of
///   the same NAME share them. For tests of a program, which then need nothing else. There are
///   mutexes, read-write and mode locks, semaphores, `all_of` of them, `inspector::status` and
///   `break_lock`; all else throws `unsupported`.
///
/// `?protocol=2` at the end (`&protocol=2` behind `?db=N`) is for proxies that do not know HELLO.
///
/// Thread safety: cheap to copy, and one object may be used from any number of threads. If a thread
/// is cancelled (pthread_cancel) inside a call of this library, it ends after the call has
/// returned.
///
/// Forks: after fork() the child must make a client of its own. Using the old one gives
/// `errc::forked`. A coroutine inside `sync_wait` may fork, and goes on in the child, too. In the
/// child, other coroutines wait for ever. A child that is forked in a callback has all signals
/// blocked, as the callback has, and ends when the callback returns.
class HOLDFAST_EXPORT client {
 public:
  /// Does not connect: if the server is not there, the first operation reports it.
  /// Throws `failure`: `invalid_url`, `invalid_argument`, `unsupported`, `embedded_server`.
  explicit client(std::string_view url);
  client(std::string_view url, client_options options);

  /// A lock that one holder at a time can have.
  ///
  /// `name`: 1 to 512 bytes of any value. `how`: the layout in Redis. A dialect writes the lock as
  /// another library does, so that it is shared with that library's users. Every dialect has
  /// mutexes, except `redis_semaphore` and `redisson(redisson_lock::expirable)`; see `dialect` for
  /// the options that it refuses.
  ///
  /// Throws `failure`: `invalid_name`, `invalid_argument`, `unsupported`.
  [[nodiscard]] lock mutex(std::string_view name, const mutex_options& options = {},
                           const dialect& how = {}) const;

  /// A mutex that its holder may acquire again. It has the same dialects as `mutex`, and throws as
  /// `mutex` does.
  [[nodiscard]] holdfast::recursive_mutex recursive_mutex(
      std::string_view name, const recursive_mutex_options& options = {},
      const dialect& how = {}) const;

  /// A lock that many readers or one writer can hold.
  ///
  /// Two dialects have read-write locks, without tokens and without an order of arrival:
  /// `redisson()` (Redisson's `RReadWriteLock`) and `symfony()`.
  ///
  /// Throws as `mutex` does; and `unsupported` with any other dialect.
  [[nodiscard]] holdfast::read_write_lock read_write_lock(std::string_view name,
                                                          const read_write_options& options = {},
                                                          const dialect& how = {}) const;

  /// A lock with permits.
  ///
  /// Three dialects have semaphores: `redisson()` (Redisson's `RSemaphore`),
  /// `redisson(redisson_lock::expirable)` (its `RPermitExpirableSemaphore`), and
  /// `redis_semaphore()`.
  ///
  /// Throws as `mutex` does; and `unsupported` with any other dialect.
  [[nodiscard]] holdfast::semaphore semaphore(std::string_view name,
                                              const semaphore_options& options = {},
                                              const dialect& how = {}) const;

  /// A lock with the six modes of the classic lock managers. No dialect has mode locks. Throws as
  /// `mutex` does.
  [[nodiscard]] holdfast::mode_lock mode_lock(std::string_view name,
                                              const mode_lock_options& options = {}) const;

  /// A number that any number of processes change. `name` as for a lock; the two never meet.
  /// Throws `failure`: `invalid_name`.
  [[nodiscard]] holdfast::counter counter(std::string_view name) const;

  /// Limits how many operations per second all processes together may start.
  /// Throws `failure`: `invalid_name`, `invalid_argument`.
  [[nodiscard]] holdfast::rate_limiter rate_limiter(std::string_view name, rate_limit limit) const;

  /// A job that many machines schedule and one of them runs, once per interval. `name` as for a
  /// lock: its runs hold the mutex of that name.
  ///
  /// One dialect has such jobs: with `shedlock()` a run holds ShedLock's lock of the job, which
  /// stays for the `at_least_for` of `options`, not for the dialect's. `interval` must be zero.
  ///
  /// Throws as `mutex` does; and `unsupported` with any other dialect, and in memory.
  [[nodiscard]] holdfast::once_per once_per(std::string_view name, const once_per_options& options,
                                            const dialect& how = {}) const;

  /// Numbers from a counter. Nobody gets one of them twice. Throws `failure`: `invalid_name`,
  /// `invalid_argument`.
  [[nodiscard]] holdfast::id_generator id_generator(std::string_view name,
                                                    id_options options = {}) const;

  /// Numbers from the time and a machine number. Nobody gets one of them twice. This call leases
  /// the machine number, so it blocks.
  /// Throws `failure`: `invalid_name`, `invalid_argument`, `busy` when all machine numbers are
  /// taken, and what `lock::acquire` throws.
  [[nodiscard]] snowflake_generator snowflake(std::string_view name,
                                              const snowflake_options& options = {}) const;

  /// Sets a key of yours, unless a write with a newer token was accepted for it before. Fenced
  /// writes of any kind to one key see each other. They do not see plain writes.
  ///
  /// The server keeps the last token at `hf:fenced:{T}:KEY` for ever, since a late writer may come
  /// at any time. If you remove KEY for good, remove that key, too.
  ///
  /// Cost: one command for each call. If the answer is lost, the call is asked again and executed
  /// once, as in `counter`. If it fails with `unavailable`, the message says whether it may have
  /// been executed.
  ///
  /// Throws `failure`: `unsupported` without a token, `foreign_key`, and what the server refuses.
  fence_verdict fenced_set(std::string_view key, std::string_view value, fencing_token token) const;

  /// As `fenced_set`, for fields of a hash: at least one pair of field and value.
  fence_verdict fenced_hset(std::string_view key,
                            const std::vector<std::pair<std::string, std::string>>& fields,
                            fencing_token token) const;

  /// As `fenced_set`, for a Lua script of yours, which sees `KEYS` and `ARGV` as usual. There must
  /// be at least one key, and all keys must be of one hash slot (`invalid_argument` otherwise). The
  /// token must be let through for each of the keys. If the script raises an error, its earlier
  /// writes stay.
  ///
  /// The script must end by itself. The server runs one script at a time, and SCRIPT KILL cannot
  /// end this one, since its token is written before it runs. A number that it returns, also in a
  /// table, must be below 2^53: Lua rounds larger ones, so return a text instead. A larger number
  /// is a `server_error`, and what the script wrote stays.
  fenced_reply fenced_eval(std::string_view script, const std::vector<std::string>& keys,
                           const std::vector<std::string>& args, fencing_token token) const;

  /// From now on each grant of this lock through this client has a token larger than `last`. Use it
  /// when a resource said `stale`, so that the resource cannot say so again. Sends nothing. If the
  /// token is ten seconds or more ahead of the server's clock, and of its counter, acquisitions
  /// fail with `clock_skew` until the clock has come near it.
  void raise_floor(std::string_view lock_name, fencing_token last) const;

  /// An election: its holder leads. No dialect has elections. Throws as `mutex` does.
  [[nodiscard]] holdfast::election election(std::string_view name,
                                            election_options options = {}) const;

  /// A number that is counted down to zero, and its waiters.
  ///
  /// One dialect has latches: with `redisson()` it is Redisson's `RCountDownLatch`, shared with its
  /// users. A waiter then stands in no queue. It is notified on Redisson's channel, and asks again
  /// after at most 2 s. If the latch was set again before it asks, it waits for the next opening.
  /// See docs/wire/redisson.md.
  ///
  /// Throws as `mutex` does; and `unsupported` with a dialect that has no latches.
  [[nodiscard]] holdfast::latch latch(std::string_view name, const dialect& how = {}) const;

  /// A barrier that opens when this many parties have arrived: 1 to 1,000. No dialect has barriers.
  /// Throws as `mutex` does.
  [[nodiscard]] holdfast::barrier barrier(std::string_view name, std::uint32_t parties) const;

  /// The server's address in its usual form (`redis://host:6379`), without user and password.
  [[nodiscard]] const std::string& url() const noexcept;

 private:
  friend class inspector;
  friend struct detail::lock_access;
  std::shared_ptr<runtime::client_core> core_;
};

}  // namespace holdfast
