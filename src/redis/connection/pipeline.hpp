// Commands on their way over one link: those that wait, those in flight, and the role of the
// reader.
#pragma once

#include <cstdint>
#include <optional>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "net/background_thread.hpp"
#include "net/event_source.hpp"
#include "redis/connection/connection_tuning.hpp"
#include "redis/connection/destination.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/outbox.hpp"
#include "redis/connection/reading_role.hpp"
#include "redis/connection/reconnect_pauses.hpp"
#include "redis/connection/request_queue.hpp"
#include "redis/connection/session.hpp"
#include "redis/connection/silence_watch.hpp"
#include "redis/connection/unread_watch.hpp"

namespace holdfast::redis {

// The state that callers, the reader, the connector and the background thread share, under one
// mutex. It is never held while calling a request, except for request::write.
struct pipeline {
  // `owner`: the home of the threads that it is driven by.
  pipeline(const net::event_source& owner, const session_settings& settings,
           const connection_tuning& tuning, net::background_thread& helper);

  // Cannot fail: if there is no memory to write a command down now, the background thread sends it.
  // `second` may be null; no other command comes between the two.
  void submit(request& first, request* second, delivery how) noexcept HOLDFAST_EXCLUDES(guard);

  bool is_up() const HOLDFAST_REQUIRES(guard) { return where.is_up(); }
  bool nothing_to_read() const HOLDFAST_REQUIRES(guard);
  // Nobody reads, although answers are under way.
  bool answers_lie() const HOLDFAST_REQUIRES(guard);
  reading_role::load load(std::size_t answered, std::size_t crowd) const HOLDFAST_REQUIRES(guard);

  // True: the calling thread reads from now on.
  bool take_role(net::waiter& w) HOLDFAST_REQUIRES(guard);
  // The leader has its answer. True: wake the background thread.
  bool pass_role(const net::waiter& leader, std::size_t answered, std::size_t crowd)
      HOLDFAST_REQUIRES(guard);
  // The background thread has read all there was. False: it keeps the role.
  bool stop_reading_in_background(bool heard) HOLDFAST_REQUIRES(guard);

  void enqueue(request& r, monotonic_time now) HOLDFAST_REQUIRES(guard);
  void enqueue_pending(monotonic_time now) HOLDFAST_REQUIRES(guard);
  // Sends what is written down; one thread at a time. Unlocks meanwhile. True: wake the background
  // thread.
  bool flush() HOLDFAST_REQUIRES(guard);
  // Makes sure that enqueued commands are sent and their answers read. Unlocks meanwhile. True:
  // wake the background thread.
  bool attract_reader(delivery how) HOLDFAST_REQUIRES(guard);

  // The background thread looks whether anything lies.
  void look_within(microseconds time) HOLDFAST_REQUIRES(guard);
  // From now on what is watched must be looked for so soon.
  void hurry_watched(delivery how) HOLDFAST_REQUIRES(guard);

  // The link to `address` is ready for commands. If that was left meanwhile, it is dropped.
  void open(link& made, const std::string& address) HOLDFAST_REQUIRES(guard);
  // The thread that reads sees the end and cleans up.
  void hang_up() HOLDFAST_REQUIRES(guard);
  // The link is broken: by the thread that has the role, which nobody has afterwards. Returns what
  // has no answer.
  request_queue break_off() HOLDFAST_REQUIRES(guard);

  const session_settings& settings;
  const connection_tuning& tuning;
  net::background_thread& helper;

  link over;  // received from by the thread that has the role, sent to by flush()

  mutex guard;
  destination where HOLDFAST_GUARDED_BY(guard);
  reconnect_pauses pauses HOLDFAST_GUARDED_BY(guard);
  reading_role role HOLDFAST_GUARDED_BY(guard);
  unread_watch unread HOLDFAST_GUARDED_BY(guard);
  silence_watch silence HOLDFAST_GUARDED_BY(guard);
  outbox out HOLDFAST_GUARDED_BY(guard);
  request_queue in_flight HOLDFAST_GUARDED_BY(guard);
  request_queue pending HOLDFAST_GUARDED_BY(guard);      // waits for the connection, or for memory
  std::uint64_t batches HOLDFAST_GUARDED_BY(guard) = 0;  // of answers that were read

 private:
  delivery reachable(request& r, delivery how) const noexcept HOLDFAST_REQUIRES(guard);
  bool lets_others_add() const HOLDFAST_REQUIRES(guard);
  std::optional<microseconds> may_all_lie() const HOLDFAST_REQUIRES(guard);

  const net::event_source& home_;
};

}  // namespace holdfast::redis
