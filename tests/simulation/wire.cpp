#include "simulation/wire.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "redis/connection/demotion.hpp"
#include "simulation/client.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr nanoseconds one_way = 2ms;
constexpr nanoseconds stay_at_a_replica = 500ms;

// A node of a cluster says where to ask; then nothing was done.
bool sent_elsewhere(const resp::value& reply) {
  return reply.is(resp::type::error) && reply.text.starts_with("MOVED");
}

}  // namespace

wire::wire(world& of, client& whose)
    : world_(of), client_(whose), one_reader_(of.chance().chance(60)) {}

bool wire::connect() {
  if (connection_ >= 0 || is_shut_to_requests() || is_shut_to_answers()) return false;
  std::tie(connection_, is_at_replica_) = world_.connect_by_name();
  connected_at_ = world_.now();
  return true;
}

void wire::afflict(trouble what, monotonic_time until) {
  trouble_ = what;
  trouble_ends_ = until;
}

bool wire::is_troubled() const { return trouble_ != trouble::none && world_.now() < trouble_ends_; }

bool wire::is_shut_to_requests() const {
  return is_troubled() && (trouble_ == trouble::cut || trouble_ == trouble::mute);
}

bool wire::is_shut_to_answers() const {
  return is_troubled() && (trouble_ == trouble::cut || trouble_ == trouble::deaf);
}

void wire::cut(bool noticed) {
  under_way_ = {};
  const int old = std::exchange(connection_, -1);
  is_at_replica_ = false;
  if (old >= 0 && noticed) world_.server().disconnect(old);
}

wire::fate wire::draw_fate(const parcel& what) {
  if (!world_.faults()) return fate::fine;
  const auto drawn = world_.chance().up_to(99);
  if (drawn < 4) return fate::lost;
  if (drawn < 8) return fate::unanswered;
  if (drawn < 12) return fate::late;
  if (drawn < 15 && what.repeatable) return fate::repeated;
  return fate::fine;
}

void wire::transmit(parcel what) {
  auto& dice = world_.chance();
  const auto flight = under_way_[static_cast<std::size_t>(what.what)] = ++flights_;
  if (connection_ < 0) {
    client_.later(world_.now() + dice.time_up_to(50ms),
                  [this, flight, use = what.what] { fail(use, flight, no_answer::not_sent); });
    return;
  }
  const auto how = draw_fate(what);
  if (how != fate::fine) client_.disturb();
  if (how == fate::lost) world_.count(fault::request_lost);
  if (how == fate::unanswered) world_.count(fault::answer_lost);
  if (how == fate::late) world_.count(fault::request_late);
  if (how != fate::lost) {
    travel(what, how, dice.time_up_to(how == fate::late ? 2 * response_timeout : one_way), flight);
  }
  if (how == fate::repeated) {
    world_.count(fault::request_repeated);
    travel(what, how, one_way + dice.time_up_to(2 * response_timeout), 0);
  }
  const bool breaks = how == fate::lost || how == fate::unanswered;
  const auto until = breaks ? dice.time_up_to(response_timeout) : nanoseconds(response_timeout);
  client_.later(world_.now() + until, [this, flight, breaks, use = what.what] {
    if (under_way_[static_cast<std::size_t>(use)] != flight) return;
    if (!breaks) return fail(use, flight);
    const auto lost = under_way_;
    client_.disturb();
    cut();
    for (std::size_t i = 0; i < lost.size(); ++i) {
      under_way_[i] = lost[i];
      fail(static_cast<simulation::use>(i), lost[i]);
    }
  });
}

// A late copy comes over a connection that its sender has given up.
void wire::travel(const parcel& what, fate how, nanoseconds delay, std::uint64_t flight) {
  const auto sent_at = world_.now();
  if (is_shut_to_requests()) delay += trouble_ends_ - sent_at;
  if (is_troubled() && trouble_ == trouble::slow) {
    delay += world_.chance().time_up_to(3 * response_timeout);
  }
  world_.at(sent_at + delay, [this, what, how, flight, sent_at, over = connection_,
                              life = client_.life()] {
    const bool alive = over == connection_ && how != fate::unanswered && flight != 0;
    const int by = alive ? over : world_.connect();
    const bool reads_only = alive && is_at_replica_;
    if (!reads_only) world_.check().asked_above(what.floor, world_.now());
    if (what.what == use::request && !world_.is_refusing() && !reads_only) {
      asked_at_ = world_.now();
    }
    auto reply = world_.execute(by, what.bytes);
    if (life == client_.life()) what.executed(reply);
    if (!alive) return world_.server().disconnect(by);
    const utterance when{sent_at, ++said_};
    client_.later(arrival(0), [this, use = what.what, flight, when, reply = std::move(reply)] {
      auto& current = under_way_[static_cast<std::size_t>(use)];
      if (current != flight) return;
      if (sent_elsewhere(reply)) {
        fail(use, flight, no_answer::not_sent);
      } else {
        current = 0;
        client_.answered(use, when, reply);
      }
      leave_if_refused(reply);
    });
  });
}

// As redis/connection/connector.cpp: where a name has led to a replica it does so for a while.
void wire::leave_if_refused(const resp::value& reply) {
  if (!is_at_replica_) return;
  const bool stays = !sent_elsewhere(reply) && world_.now() < connected_at_ + stay_at_a_replica;
  const bool is_refused = sent_elsewhere(reply) || redis::tells_of_demotion(reply);
  if (is_refused && !stays) client_.break_connection();
}

void wire::fail(use what, std::uint64_t flight, no_answer how) {
  auto& current = under_way_[static_cast<std::size_t>(what)];
  if (flight == 0 || current != flight) return;
  current = 0;
  client_.unanswered(what, how);
}

void wire::deliver_push(resp::value push) {
  if (world_.faults()) {
    const auto drawn = world_.chance().up_to(99);
    if (drawn < 5) {
      lost_push_at_ = world_.now();
      client_.message_lost();
      return world_.count(fault::push_lost);
    }
    if (drawn < 12) stall();
  }
  const utterance when{world_.now(), ++said_};
  client_.later(arrival(1), [this, over = connection_, when, push = std::move(push)] {
    if (over == connection_) client_.heard(push, when);
  });
}

void wire::stall() {
  world_.count(fault::stalled);
  client_.disturb();
  auto& until = heard_until_[one_reader_ ? 0 : 1];
  until = std::max(until, world_.now()) + world_.chance().time_up_to(700ms);
}

bool wire::has_just_asked() const { return asked_at_ + substrate::longest_claim >= world_.now(); }

bool wire::stalls() const {
  return is_at_replica_ || is_troubled() || world_.is_refusing() ||
         std::ranges::max(heard_until_) > world_.now() + one_way;
}

monotonic_time wire::arrival(std::size_t stream) {
  auto& until = heard_until_[one_reader_ ? 0 : stream];
  auto due = world_.now() + world_.chance().time_up_to(one_way);
  if (is_shut_to_answers()) due += trouble_ends_ - world_.now();
  if (is_troubled() && trouble_ == trouble::slow) {
    due += world_.chance().time_up_to(3 * response_timeout);
  }
  return until = std::max(until, due);
}

}  // namespace holdfast::simulation
