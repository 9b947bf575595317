// One pipelined connection that many threads share, and whose reading thread changes with the load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/mutex.hpp"
#include "net/background_thread.hpp"
#include "net/event_source.hpp"
#include "redis/connection/connection_observer.hpp"
#include "redis/connection/connection_tuning.hpp"
#include "redis/connection/connector.hpp"
#include "redis/connection/login_renewal.hpp"
#include "redis/connection/ping.hpp"
#include "redis/connection/pipeline.hpp"
#include "redis/connection/reader.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

// Its parts: the pipeline holds the shared state, and the mutex around it. The reader is the work
// of the thread that has the role (reading_role.hpp), the connector makes the links. The rest is
// here: calls of callers, and the tasks of the background thread.
//
// Thread safety: submit, drive and forget from any thread.
class connection final : public net::attendant, public net::event_source {
 public:
  using observer = connection_observer;
  using delivery = redis::delivery;

  // `positions`: the common counter of connections whose answers are compared; null: it is the only
  // one.
  connection(session_settings settings, connection_tuning tuning, net::background_thread& helper,
             observer& watching, std::atomic<std::uint64_t>* positions = nullptr);

  // Cannot fail: if there is no memory to write the command down now, the background thread sends
  // it.
  void submit(request& r, delivery how) noexcept HOLDFAST_EXCLUDES(line_.guard);
  // No other command comes between the two.
  void submit(request& first, request& second, delivery how) noexcept
      HOLDFAST_EXCLUDES(line_.guard);

  // Takes the memory that the calling thread needs in drive(): before anything is asked, since a
  // thread that cannot wait for its answer must not go away either.
  static void prepare_to_drive();

  // Of net::event_source. The thread that drives sends, reads for everybody, or sleeps. An
  // exception of a request that hears an answer here ends the process: others wait for this thread.
  void drive(net::waiter& w) noexcept override HOLDFAST_EXCLUDES(line_.guard);
  void forget(const net::waiter& w) override HOLDFAST_EXCLUDES(line_.guard);

  // From `listen` to `unlisten` somebody reads the connection also when nothing is in flight, since
  // a push may come. `who` is the thread that waits for it, in drive(); null: none does.
  void listen(net::waiter* who) HOLDFAST_EXCLUDES(line_.guard);
  void unlisten(const net::waiter* who) HOLDFAST_EXCLUDES(line_.guard);

  // The caller looks elsewhere for what it has `watched` so far: the answer may lie for `grace`.
  void look_soon() HOLDFAST_EXCLUDES(line_.guard);
  // The caller does not wait any more for what it has `watched` so far: it may lie for `patience`.
  void let_lie() HOLDFAST_EXCLUDES(line_.guard);

  // A push will come very soon: the thread that reads looks for it for a while before it sleeps.
  void expect_push() noexcept { reader_.expect_push(); }

  // The server is not the one to ask any more, but `address` is (empty: whichever the sentinels
  // name, or the name in the URL leads to): connects there, unless that is where we are.
  void leave_for(const std::string& address) { connector_.leave_for(address); }
  bool is_up() HOLDFAST_EXCLUDES(line_.guard);

  // Ends everything; requests in flight fail. After the background thread has stopped and when no
  // other thread uses the connection any more.
  void shut_down() HOLDFAST_EXCLUDES(line_.guard);

  const session_settings& settings() const noexcept { return settings_; }

  // Of net::attendant, on the background thread.
  interest wants(monotonic_time now) override HOLDFAST_EXCLUDES(line_.guard);
  void attend(short events, monotonic_time now) override HOLDFAST_EXCLUDES(line_.guard);

 private:
  bool take_role(net::waiter& w, bool& wake) HOLDFAST_REQUIRES(line_.guard);
  bool is_wanted() const HOLDFAST_REQUIRES(line_.guard);
  void send_what_waits(short events, monotonic_time now) HOLDFAST_REQUIRES(line_.guard);
  bool take_what_lies() HOLDFAST_REQUIRES(line_.guard);
  void ping_if_silent(monotonic_time now) HOLDFAST_REQUIRES(line_.guard);
  request_queue take_all() HOLDFAST_EXCLUDES(line_.guard);

  const session_settings settings_;
  const connection_tuning tuning_;
  observer& observer_;
  pipeline line_;
  login_renewal login_renewal_;
  connector connector_;
  reader reader_;
  ping ping_;
};

}  // namespace holdfast::redis
