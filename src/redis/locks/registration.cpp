#include "redis/locks/registration.hpp"

#include <unistd.h>

#include <string>

#include <holdfast/version.hpp>

#include "net/clock.hpp"
#include "net/host_name.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

constexpr auto refresh_after = std::chrono::minutes{1};
constexpr milliseconds usual_lease = std::chrono::minutes{2};  // or less

}  // namespace

registration::registration(redis_engine& owner, const client_id& id)
    : engine_(owner),
      place_(owner.space(), id.text()),
      since_(net::now()),
      longest_lease_(usual_lease) {}

void registration::refresh(milliseconds lease) {
  auto longest = longest_lease_.load(std::memory_order_relaxed);
  while (longest < lease) {
    if (!longest_lease_.compare_exchange_weak(longest, lease, std::memory_order_relaxed)) continue;
    fresh_until_.store(0, std::memory_order_relaxed);
    break;
  }
  const auto now = net::now().time_since_epoch();
  if (now.count() < fresh_until_.load(std::memory_order_relaxed)) return;
  fresh_until_.store(nanoseconds{now + refresh_after}.count(), std::memory_order_relaxed);
  using delivery = redis::connection::delivery;
  if (entry_.take()) {
    engine_.connection(place_.slot).submit(entry_, delivery::lazy);
  } else {
    fresh_until_.store(0, std::memory_order_relaxed);  // its lease may be shorter
  }
  if (sample_.take()) engine_.connection(place_.slot).submit(sample_, delivery::lazy);
}

void registration::withdraw() {
  if (fresh_until_.load(std::memory_order_relaxed) == 0) return;
  using delivery = redis::connection::delivery;
  if (removal_.take()) engine_.connection(place_.slot).submit(removal_, delivery::lazy);
}

void registration::entry::write(resp::writer& out, monotonic_time sent_at) {
  dialects::client_entry self;
  self.host = net::host_name();
  self.pid = ::getpid();
  self.program = of_.engine_.options().name;
  self.version = version;
  const auto age = std::chrono::floor<microseconds>(sent_at - of_.since_);
  self.since = of_.engine_.clock(of_.place_.slot).estimate(sent_at) - age;
  // A lease that is acquired before the entry is written again may last as long.
  const auto longest = of_.longest_lease_.load(std::memory_order_relaxed);
  dialects::write_client(of_.place_, self, longest + refresh_after, out);
}

void registration::clock_sample::write(resp::writer& out, monotonic_time) {
  out.command(1);
  out.arg("TIME");
}

void registration::clock_sample::on_reply(resp::value& reply) {
  if (const auto said = redis::read_time(reply)) {
    of_.engine_.clock(of_.place_.slot).learn(sent_at(), net::now(), *said);
  }
  notice::on_reply(reply);
}

void registration::removal::write(resp::writer& out, monotonic_time) {
  dialects::write_client_removal(of_.place_, out);
}

}  // namespace holdfast::redis_locks
