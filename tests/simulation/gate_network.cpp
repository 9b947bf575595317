// The connection of one who comes to the gate, on which things get lost, late, repeated and cut.
#include <algorithm>
#include <utility>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "simulation/gate_world.hpp"
#include "simulation/greeting.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;

namespace {

enum class fate : std::uint8_t { fine, lost, unanswered, late, repeated };

fate draw_fate(world& in, bool repeatable) {
  if (!in.faults()) return fate::fine;
  const auto drawn = in.chance().up_to(99);
  const auto counted = [&](fault what, fate how) {
    in.count(what);
    return how;
  };
  if (drawn < 4) return counted(fault::request_lost, fate::lost);
  if (drawn < 8) return counted(fault::answer_lost, fate::unanswered);
  if (drawn < 12) return counted(fault::request_late, fate::late);
  if (drawn < 16 && repeatable) return counted(fault::request_repeated, fate::repeated);
  return fate::fine;
}

}  // namespace

void walker::connect() {
  if (connection_ >= 0) return;
  connection_ = world_.connect(std::string{id_.text()});
  if (world_.has_gate()) subscribe();
  const auto said = ask_time([&](auto& bytes) { return world_.execute(connection_, bytes); });
  learn(world_.now(), said);
}

// Perhaps the server does not allow it, or no longer.
void walker::subscribe() {
  deaf_ = world_.chance().chance(10);
  if (deaf_) return world_.count(fault::deaf);
  simulation::subscribe(id_, [&](auto& bytes) { return world_.execute(connection_, bytes); });
}

void walker::send(errand what) {
  connect();
  auto& dice = world_.chance();
  const auto flight = ++flights_;
  under_way_.emplace(flight, what.heard);
  const auto how = draw_fate(world_, what.repeatable);
  if (how != fate::fine) disturb();
  const auto most = how == fate::late ? nanoseconds(2 * response_timeout) : one_way;
  if (how != fate::lost) travel(what, how != fate::unanswered, dice.time_up_to(most), flight);
  if (how == fate::repeated) {
    travel(what, false, one_way + dice.time_up_to(2 * response_timeout), 0);
  }
  const bool breaks = how == fate::lost || how == fate::unanswered;
  const auto until = breaks ? dice.time_up_to(response_timeout) : nanoseconds(response_timeout);
  later(world_.now() + until, [this, flight, breaks] {
    if (!under_way_.contains(flight)) return;
    if (breaks) return break_connection(true);
    fail(flight);
  });
}

// A late copy comes over a connection that its sender has given up.
void walker::travel(const errand& what, bool arrives, nanoseconds delay, std::uint64_t flight) {
  const auto sent_at = world_.now();
  world_.at(
      sent_at + delay, [this, what, arrives, flight, sent_at, over = connection_, life = life_] {
        const bool alive = arrives && life == life_ && over == connection_;
        const int by = alive ? over : world_.connect({});
        const auto reply = world_.execute(by, what.bytes, what.request, what.executed);
        if (!alive) return world_.disconnect(by);
        const auto position = world_.next_position();
        heard_until_ = std::max(heard_until_, world_.now() + world_.chance().time_up_to(one_way));
        later(heard_until_, [this, flight, reply, sent_at, position] {
          const auto found = under_way_.extract(flight);
          if (!found.empty()) found.mapped()(&reply, sent_at, position);
        });
      });
}

void walker::fail(std::uint64_t flight) {
  const auto found = under_way_.extract(flight);
  if (!found.empty()) found.mapped()(nullptr, world_.now(), 0);
}

// Values on their way are lost. A waiter asks again. The server may notice later.
void walker::break_connection(bool noticed) {
  if (connection_ < 0) return;
  disturb();
  const int old = std::exchange(connection_, -1);
  if (noticed) world_.disconnect(old);
  const auto lost = std::exchange(under_way_, {});
  for (const auto& [flight, heard] : lost) heard(nullptr, world_.now(), 0);
  later(world_.now() + world_.chance().time_up_to(20ms), [this, mine = calls_] {
    connect();
    if (mine == calls_ && asks_) obey(asks_->on_woken(now()));
  });
}

void walker::deliver(resp::value push) {
  auto when = world_.now() + world_.chance().time_up_to(one_way);
  if (world_.faults()) {
    const auto drawn = world_.chance().up_to(99);
    if (drawn < 5) return world_.count(fault::push_lost);
    if (drawn < 12) {
      world_.count(fault::stalled);
      disturb();
      when += world_.chance().time_up_to(700ms);
    }
  }
  later(when,
        [this, over = connection_, position = world_.next_position(), push = std::move(push)] {
          if (over == connection_) hear(push, position);
        });
}

// An answer to a call that is over concerns nobody: nothing is held at a gate.
void walker::hear(const resp::value& push, std::uint64_t position) {
  const auto said = dialects::read_message(key_space{}, id_, push.items.at(2).text);
  const auto* const grant = said ? std::get_if<dialects::handed_over>(&*said) : nullptr;
  if (grant == nullptr || !asks_) return;
  if (!dialects::is_for(*grant, world_.watch().how().queue_family(), claim_)) return;
  by_message_ = true;
  obey(dialects::is_plausible(*grant, claim_)
           ? asks_->on_handed_over({grant->major, grant->claim}, *server_clock_.earliest(grant->at),
                                   now(), position)
           : asks_->on_woken(now()));
  by_message_ = false;
}

}  // namespace holdfast::simulation::gates
