#include "base/snowflake.hpp"

#include <algorithm>
#include <holdfast/client.hpp>
#include <holdfast/id_generator.hpp>
#include <mutex>
#include <utility>

#include "base/lock_key.hpp"
#include "calls/idempotent_call.hpp"
#include "calls/wait_till.hpp"
#include "dialects/holdfast/layout.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/server_reply.hpp"

namespace holdfast {
namespace {

// The estimate falls behind while nothing is asked.
server_time learn_time(runtime::client_core& core, std::uint16_t slot) {
  const auto asked_at = net::now();
  const auto reply = calls::ask_again(core, slot, [](resp::writer& out) {
    out.command(1);
    out.arg("TIME");
  });
  const auto said = redis::read_time(reply);
  if (!said) throw failure{errc::server_error, "TIME was answered: " + resp::to_string(reply)};
  core.engine().clock(slot).learn(asked_at, net::now(), *said);
  return *said;
}

// Whoever had the machine number before gave out no id with a later time than `after_grant`, which
// the server said after the grant, unless its clock was set back meanwhile. The token knows of
// that: majors are drawn from the clock and never fall, and they are hardly more than this ahead of
// it.
server_time no_id_before(const lease& held, server_time after_grant) {
  const auto major = held.token().value() / dialects::minors_per_major;
  const server_time drawn{microseconds(static_cast<std::int64_t>(major))};
  return std::max(after_grant, drawn - dialects::longest_lead);
}

}  // namespace

class snowflake_generator::state {
 public:
  state(std::shared_ptr<runtime::client_core> core, std::string_view name, std::uint32_t machine,
        lease held, server_time after)
      : core_(std::move(core)),
        name_(name),
        machine_(machine),
        held_(std::move(held)),
        slot_(core_->engine().key_of(held_.name()).slot()),
        ids_(machine, after) {}

  const std::string& name() const noexcept { return name_; }
  std::uint32_t machine() const noexcept { return machine_; }

  std::int64_t next() {
    core_->check_process();
    const std::lock_guard lock(guard_);
    auto id = ids_.next(now());
    for (; !id; id = ids_.next(now())) wait();
    // After the look at the clock: the time in the id is one at which the number was ours.
    if (!held_.held()) {
      throw failure{errc::lost, "the lease of machine number " + std::to_string(machine_) +
                                    " has ended; make another generator"};
    }
    return *id;
  }

 private:
  server_time estimate() const { return core_->engine().clock(slot_).estimate(net::now()); }

  // The slot of a cluster may belong to a server now that has not told us its time yet.
  server_time now() const {
    if (const auto known = estimate(); known < leasing::far_future) return known;
    learn_time(*core_, slot_);
    if (const auto known = estimate(); known < leasing::far_future) return known;
    throw failure{errc::unavailable, "the server's time is not known; try again"};
  }

  void wait() const {
    constexpr milliseconds most{1000};
    const auto left = ids_.wait(now());
    if (left > most) {
      throw failure{errc::clock_skew, "the server's clock is " + std::to_string(left.count()) +
                                          " ms behind the last id; set the clocks (NTP), or wait"};
    }
    calls::wait_till(net::now() + left / 2 + microseconds{50});
  }

  const std::shared_ptr<runtime::client_core> core_;
  const std::string name_;
  const std::uint32_t machine_;
  const lease held_;
  const std::uint16_t slot_;
  std::mutex guard_;
  snowflake ids_;  // guarded by guard_
};

snowflake_generator client::snowflake(std::string_view name,
                                      const snowflake_options& options) const {
  if (options.machines < 1 || options.machines > holdfast::snowflake::machines) {
    throw failure{errc::invalid_argument, "machines must be 1 to 1024"};
  }
  (void)core_->engine().key_of(name);  // throws when it is no name
  const auto first = core_->engine().next_seed() % options.machines;
  for (std::uint32_t tried = 0; tried < options.machines; ++tried) {
    const auto machine = static_cast<std::uint32_t>((first + tried) % options.machines);
    auto held = mutex(std::string{name} + ":machine:" + std::to_string(machine)).try_acquire();
    if (held) {
      const auto slot = core_->engine().key_of(held->name()).slot();
      const auto after = no_id_before(*held, learn_time(*core_, slot));
      return snowflake_generator{std::make_shared<snowflake_generator::state>(
          core_, name, machine, *std::move(held), after)};
    }
    if (held.error().reason() != errc::busy) throw failure{held.error()};
  }
  throw failure{errc::busy,
                "all " + std::to_string(options.machines) + " machine numbers are taken"};
}

const std::string& snowflake_generator::name() const noexcept { return state_->name(); }

std::uint32_t snowflake_generator::machine() const noexcept { return state_->machine(); }

std::int64_t snowflake_generator::next() const { return state_->next(); }

}  // namespace holdfast
