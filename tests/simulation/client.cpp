#include "simulation/client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "simulation/greeting.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

client_id id_of(std::uint16_t number, std::uint64_t life) {
  return client_id{{static_cast<std::uint8_t>(number + 1), static_cast<std::uint8_t>(life),
                    static_cast<std::uint8_t>((number + 1) >> 8)}};
}

// Half of the clocks are as fast or as slow as may be.
std::int64_t draw_drift(dice& from, std::int64_t most) {
  const auto drawn = static_cast<std::int64_t>(from.up_to(static_cast<std::uint64_t>(4 * most)));
  return std::clamp(drawn - 2 * most, -most, most);
}

}  // namespace

client::client(world& of, std::uint16_t number)
    : world_(of),
      number_(number),
      clock_(begin_of_time, draw_drift(of.chance(), of.most_drift())),
      wire_(of, *this),
      id_(id_of(number, 0)) {}

// ---- time

monotonic_time client::now() const { return clock_.local(world_.now()); }

void client::later(monotonic_time when, std::function<void()> what) {
  world_.at(when, [this, life = life_, what = std::move(what)]() mutable {
    if (life != life_) return;
    if (world_.now() < frozen_until_) return later(frozen_until_, std::move(what));
    what();
  });
}

void client::later_here(monotonic_time local, std::function<void()> what) {
  later(clock_.world(local), std::move(what));
}

// Each life is a process of its own.
void client::tell(history::event what) {
  what.process = (number_ + 1) * 1000 + static_cast<std::int64_t>(life_);
  what.operation = operation_;
  world_.tell(std::move(what));
}

void client::tell_belief(history::kind how) {
  tell({.what = how,
        .token = belief_.token,
        .until = belief_.deadline.time_since_epoch(),
        .mode = support::mode_of(belief_.has.mode)});
}

void client::learn(monotonic_time sent_at, server_time said) {
  sampled_at_ = sent_at;
  clock_of_server_.sample(clock_.local(sent_at), now(), said);
}

// ---- what happens to it

void client::disturb() {
  place_.reset();
  keeps_since_.reset();
  undisturbed_ = hears_all_ = false;
  world_.reconsider();
}

bool client::lives_as(std::string_view request) const {
  if (world_.now() < frozen_until_) return false;
  // The server cannot know that it does not hear the answers.
  if (wire_.stalls() && !wire_.has_just_asked()) return false;
  if (waits() && mine_->claim.owner.text() == request) return true;
  return change_ && change_->claim.owner.text() == request;
}

// Perhaps the connection breaks, and only one side notices.
void client::afflict(trouble what, monotonic_time until) {
  auto& dice = world_.chance();
  disturb();
  wire_.afflict(what, until);
  world_.at(until, [this] { disturb(); });
  if (dice.chance(50)) return;
  world_.at(world_.now() + dice.time_up_to(until - world_.now()), [this] { break_connection(); });
}

void client::plan_mishaps() {
  if (!world_.faults()) return;
  auto& dice = world_.chance();
  const auto in_this_attempt = [this, mine = attempt_](auto what) {
    return [this, mine, what] {
      if (mine == attempt_ && world_.faults()) what();
    };
  };
  if (dice.chance(15)) {
    later(world_.now() + dice.time_up_to(500ms), in_this_attempt([this] { cancel(); }));
  }
  if (dice.chance(5)) {
    later(world_.now() + dice.time_up_to(1s),
          in_this_attempt([this] { freeze(world_.longest_freeze()); }));
  }
  if (dice.chance(5)) {
    later(world_.now() + dice.time_up_to(1s), in_this_attempt([this] { crash(); }));
  }
  if (dice.chance(5)) {
    later(world_.now() + dice.time_up_to(1s), in_this_attempt([this] {
            world_.count(fault::connection_broken);
            break_connection();
          }));
  }
}

void client::freeze(nanoseconds most) { stop_for(world_.chance().time_up_to(most)); }

void client::stop_for(nanoseconds time) {
  world_.count(fault::frozen);
  disturb();
  frozen_until_ = world_.now() + time;
  tell({.what = history::kind::frozen});
  later(frozen_until_, [this] {
    tell({.what = history::kind::thawed});
    if (has_lock() && !believes()) world_.count(fault::frozen_past_lease);
    world_.reconsider();
  });
}

// A new process takes its place, which knows nothing of it.
void client::crash() {
  auto& dice = world_.chance();
  const bool silently = dice.chance(50);
  world_.count(silently ? fault::crashed_silently : fault::crashed);
  disturb();
  const int old = wire_.connection();
  wire_.cut(!silently);
  if (silently && old >= 0) {
    world_.at(world_.now() + dice.time_up_to(3s), [this, old] { world_.server().disconnect(old); });
  }
  tell({.what = history::kind::killed});
  ++life_;
  ++attempt_;
  mine_.reset();
  change_.reset();
  releases_then_ = false;
  turns_.close();
  id_ = id_of(number_, life_);
  clock_of_server_ = {};
  connected_ = 0;
  floor_ = 0;
  frozen_until_ = {};
  served_ = false;
  later(world_.now() + dice.time_up_to(1s), [this] { begin(); });
}

// Values on their way to it are lost. If it waits, it asks again.
void client::break_connection() {
  if (connection() < 0) return;
  disturb();
  const bool waited = waits() || change_;
  wire_.cut();
  unanswered(use::renewal);
  unanswered(use::request);
  if (!waited) return;
  later(world_.now() + world_.chance().time_up_to(20ms), [this, mine = attempt_] {
    if (mine == attempt_ && asks()) obey(*asks(), session(*asks()).on_woken(now()));
  });
}

void client::connect() {
  if (!wire_.connect()) return;
  subscribe();
  const auto said = ask_time([&](auto& bytes) { return world_.execute(connection(), bytes); });
  learn(world_.now(), said);
  doubt_if_other_server();
}

// Later: it may connect while a request does something else.
void client::doubt_if_other_server() {
  const auto now_at = world_.identity(wire_.is_at_replica());
  const auto before = std::exchange(connected_, now_at);
  if (before == 0 || before == now_at) return;
  later(world_.now(), [this, mine = attempt_] {
    if (mine != attempt_ || !mine_) return;
    obey(*mine_, mine_->session.on_doubt(now()));
    follow_mode();
    if (change_) obey(*change_, session(*change_).on_doubt(now()));
  });
}

// Perhaps the server does not allow it, or no longer.
void client::subscribe() {
  deaf_ = world_.varies() && world_.chance().chance(10);
  if (deaf_) return world_.count(fault::deaf);
  const auto ask = [&](auto& bytes) { return world_.execute(connection(), bytes); };
  simulation::subscribe(id_, ask);
  if (!world_.server().has_shards() || !world_.chance().chance(80)) return;
  simulation::subscribe_in_slot(id_, world_.key(), ask);
}

// In the end once is enough for each.
void client::rest() {
  mine_.reset();
  place_.reset();
  rests_ = served_ && !world_.faults();
  ++attempt_;
  if (rests_) return;
  later(world_.now() + world_.chance().time_up_to(20ms), [this] { begin(); });
}

}  // namespace holdfast::simulation
