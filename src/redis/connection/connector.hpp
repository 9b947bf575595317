// Makes connections, each attempt on a thread of its own, and leaves a server that is not the
// master.
#pragma once

#include <optional>
#include <string>
#include <thread>

#include "redis/connection/connection_observer.hpp"
#include "redis/connection/locator.hpp"
#include "redis/connection/login_renewal.hpp"
#include "redis/connection/pipeline.hpp"

namespace holdfast::redis {

// Thread safety: start() on the background thread, stop() when that has stopped, leave_*() from any
// thread.
class connector {
 public:
  connector(pipeline& line, connection_observer& watching, login_renewal& renewal);

  // Connecting may take long, and the background thread's timers must not wait for it. After
  // destination::set_out(); the pipeline is open afterwards, or its pending requests have failed.
  void start() HOLDFAST_EXCLUDES(line_.guard);
  // No attempt is under way afterwards.
  void stop();

  // The server is not the one to ask any more, but `address` is (empty: whichever the sentinels
  // name, or the name in the URL leads to): connects there, unless that is where we are.
  void leave_for(const std::string& address) HOLDFAST_EXCLUDES(line_.guard);
  // The server is a replica.
  void leave_demoted() HOLDFAST_EXCLUDES(line_.guard);
  // A command was refused since this connection is not logged in (any more).
  void on_logged_out(const std::string& said) { renewal_.on_logged_out(said); }

 private:
  void connect();
  std::optional<breakdown> log_in(link& made, session_facts& facts);
  void fail(const breakdown& why) HOLDFAST_EXCLUDES(line_.guard);

  pipeline& line_;
  connection_observer& observer_;
  login_renewal& renewal_;
  locator locator_;
  std::thread thread_;  // of the last attempt
};

}  // namespace holdfast::redis
