#include "values/machine_ids.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <holdfast/errc.hpp>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/calls/wait_till.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::values {
namespace {

// The estimate falls behind while nothing is asked.
server_time learn_time(runtime::client_core& core, std::uint16_t slot) {
  const auto asked_at = net::now();
  const auto reply = calls::ask_again(core, slot, [](resp::writer& out) {
    out.command(1);
    out.arg("TIME");
  });
  const auto said = redis::read_time(reply);
  if (!said)
    throw failure{errc::server_error, "the server's answer to TIME: " + resp::to_string(reply)};
  redis_locks::engine_of(core).clock(slot).learn(asked_at, net::now(), *said);
  return *said;
}

// Earlier holders of the machine number gave out no id with a later time than `after_grant`, which
// the server said after the grant, unless its clock was set back meanwhile. The token knows of
// that: majors are drawn from the clock and never fall, and they are hardly more than this ahead of
// it.
server_time no_id_before(fencing_token granted, server_time after_grant) {
  const auto major = granted.value() / substrate::minors_per_major;
  const server_time drawn{microseconds(static_cast<std::int64_t>(major))};
  return std::max(after_grant, drawn - dialects::longest_lead);
}

}  // namespace

machine_ids::machine_ids(std::shared_ptr<runtime::client_core> core, std::uint32_t machine,
                         std::uint16_t slot, fencing_token granted)
    : core_(std::move(core)),
      slot_(slot),
      ids_(machine, no_id_before(granted, learn_time(*core_, slot))) {}

std::int64_t machine_ids::next() {
  core_->check_process();
  const std::lock_guard lock(guard_);
  auto id = ids_.next(now());
  for (; !id; id = ids_.next(now())) wait();
  return *id;
}

server_time machine_ids::estimate() const {
  return redis_locks::engine_of(*core_).clock(slot_).estimate(net::now());
}

// The slot of a cluster may belong to a server now that has not told us its time yet.
server_time machine_ids::now() const {
  if (const auto known = estimate(); known < leasing::far_future) return known;
  learn_time(*core_, slot_);
  if (const auto known = estimate(); known < leasing::far_future) return known;
  throw failure{errc::unavailable, "the server's time is not known; try again"};
}

void machine_ids::wait() const {
  constexpr milliseconds most{1000};
  const auto left = ids_.wait(now());
  if (left > most) {
    throw failure{errc::clock_skew, "the server's clock is " + std::to_string(left.count()) +
                                        " ms behind the last id; set the clocks (NTP), or wait"};
  }
  calls::wait_till(net::now() + left / 2 + microseconds{50});
}

}  // namespace holdfast::values
