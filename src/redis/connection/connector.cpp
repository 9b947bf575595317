#include "redis/connection/connector.hpp"

#include <system_error>
#include <utility>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::redis {
namespace {

// So long a replica that lets us in is asked before its name is looked up again.
constexpr milliseconds stay_at_a_replica{500};

}  // namespace

connector::connector(pipeline& line, connection_observer& watching, login_renewal& renewal)
    : line_(line),
      observer_(watching),
      renewal_(renewal),
      locator_(line.settings, [this](const std::string& address) { leave_for(address); }) {}

void connector::start() {
  if (thread_.joinable()) thread_.join();  // an earlier attempt, which has ended
  try {
    thread_ = net::quiet_thread("holdfast-login", [this] { connect(); });
  } catch (const std::system_error& none_left) {
    fail({errc::unavailable, "no thread can be started to connect: " + none_left.code().message(),
          false});
  }
}

void connector::stop() {
  locator_.cancel();
  if (thread_.joinable()) thread_.join();
  locator_.stop_watching();
}

void connector::connect() {
  link made;
  session_facts facts;
  if (const auto broken = log_in(made, facts)) {
    fail(*broken);
  } else {
    {
      const scoped_mutex lock(line_.guard);
      line_.open(made, facts.address);
    }
    renewal_.on_connected(facts);
  }
  line_.helper.wake();
}

// In a cluster the observer makes connections to the nodes that it hears of.
std::optional<breakdown> connector::log_in(link& made, session_facts& facts) {
  try {
    if (auto broken = locator_.open(made, facts)) return broken;
    observer_.on_connected(facts);
    return std::nullopt;
  } catch (const std::system_error& none_left) {
    return breakdown{errc::unavailable, "no descriptor is left: " + none_left.code().message()};
  }
}

void connector::fail(const breakdown& why) {
  request_queue failed;
  auto what = no_answer::not_sent;
  {
    const scoped_mutex lock(line_.guard);
    line_.pauses.on_not_connected(net::now(), why.is_permanent());
    line_.where.fail(why.reached);
    if (!line_.where.was_reached()) what = no_answer::unreachable;
    failed = line_.pending.take();
  }
  observer_.on_not_connected();
  failed.conclude(what, why);
}

void connector::leave_for(const std::string& address) {
  locator_.ask_again();
  {
    const scoped_mutex lock(line_.guard);
    if (!line_.where.must_leave_for(address)) return;
    line_.hang_up();
  }
  line_.helper.wake();
}

// The sentinels know its successor. So does a name, sooner or later: it is looked up again twice a
// second, since until then it leads to the same server.
void connector::leave_demoted() {
  if (!locator_.may_lead_elsewhere()) return;
  if (!locator_.follows_sentinels()) {
    const scoped_mutex lock(line_.guard);
    if (line_.is_up() && !line_.pauses.has_lasted(stay_at_a_replica, net::now())) return;
  }
  leave_for({});
}

}  // namespace holdfast::redis
