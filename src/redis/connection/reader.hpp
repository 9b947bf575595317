// Reads for all threads: the work of the thread that has the reading role.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "redis/connection/answers.hpp"
#include "redis/connection/connection_observer.hpp"
#include "redis/connection/connector.hpp"
#include "redis/connection/pipeline.hpp"
#include "redis/connection/socket_wait.hpp"

namespace holdfast::redis {

// Thread safety: by the thread that has the role, except expect_push().
class reader {
 public:
  // `positions`: the common counter of connections whose answers are compared; null: it is the only
  // one.
  reader(pipeline& line, connector& connecting, connection_observer& watching,
         std::atomic<std::uint64_t>* positions);

  // From so many commands in flight the background thread reads.
  std::size_t crowd() const noexcept;

  // The calling thread, which has just taken the role, waits for its own answer.
  void begin(const net::waiter& leader, const request_queue& in_flight) noexcept;
  // Reads until this thread no longer has the role.
  void lead(net::waiter& w) HOLDFAST_EXCLUDES(line_.guard);

  // When the background thread must read on at the latest, having the role.
  monotonic_time due(const request_queue& in_flight) noexcept;
  // Returns after a while even under steady load, so that timers are attended to as well. `spin`:
  // how long it looks before it returns.
  void read_in_background(microseconds spin) HOLDFAST_EXCLUDES(line_.guard);

  // A push will come very soon: the thread that reads looks for it for a while before it sleeps.
  void expect_push() noexcept { wait_.expect_push(); }

 private:
  void note_due(const request_queue& in_flight) noexcept;
  void look_who_waits(const net::waiter* leader, const request_queue& in_flight) noexcept;
  link::outcome receive(net::waiter& w, reply_batch& into);
  bool process(answers& mine, const net::waiter* leader, link::outcome how)
      HOLDFAST_EXCLUDES(line_.guard);
  void hand_out(answers& mine, std::uint64_t position) HOLDFAST_EXCLUDES(line_.guard);
  bool sent_again(request& r, std::string& error) HOLDFAST_EXCLUDES(line_.guard);
  void pass_role(const net::waiter& leader) HOLDFAST_EXCLUDES(line_.guard);
  bool tear_down_if_overdue() HOLDFAST_EXCLUDES(line_.guard);
  void tear_down(const breakdown& why) HOLDFAST_EXCLUDES(line_.guard);

  pipeline& line_;
  connector& connector_;
  connection_observer& observer_;
  std::atomic<std::uint64_t>* const positions_;
  socket_wait wait_;
  monotonic_time due_ = monotonic_time::max();  // when the oldest command must be answered
  bool alone_ = false;          // the leader waits for the last answer, and nobody for another one
  bool same_core_ = false;      // the server has the core that we have
  std::uint64_t received_ = 0;  // answers and pushes, also of earlier links
};

}  // namespace holdfast::redis
