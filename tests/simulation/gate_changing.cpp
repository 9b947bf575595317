// One who sets a latch and counts it down: as api::ask_once does.
#include <utility>

#include "simulation/gate_world.hpp"
#include "simulation/latch_watch.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;

namespace {

// connect_timeout and twice response_timeout.
constexpr nanoseconds patience = 400ms + 2 * response_timeout;

}  // namespace

// When things go wrong no more it is counted down until all have passed.
void walker::change() {
  if (world_.closes() || wish_) return;
  auto& dice = world_.chance();
  const bool sets = world_.faults() && dice.chance(45);
  const auto number = static_cast<std::uint32_t>(world_.faults() ? 1 + dice.up_to(2) : 1000);
  change_to(sets, number);
}

void walker::change_to(bool sets, std::uint32_t number) {
  const auto& key = world_.key();
  wish_.emplace(wish{
      .call = sets ? dialects::latch_set(key, number) : dialects::latch_count_down(key, number),
      .id = request_id{id_, ++requests_},
      .number = number,
      .sets = sets,
      .machine = leasing::once_machine{now() + patience}});
  send_change();
}

void walker::send_change() {
  errand sent{.repeatable = true};
  resp::writer out{sent.bytes};
  connect();  // whose time it asks
  dialects::write_once(wish_->call, wish_->id, wish_->machine.not_after(sending()), out);
  const std::string id{wish_->id.text()};
  sent.executed = [this, id, sets = wish_->sets, number = wish_->number](const resp::value& reply) {
    world_.latch()->changed(id, sets, number, reply);
  };
  sent.heard = [this, mine = wish_->id](const resp::value* reply, monotonic_time sent_at,
                                        std::uint64_t) {
    if (wish_ && wish_->id == mine) change_answered(reply, sent_at);
  };
  send(std::move(sent));
}

void walker::change_answered(const resp::value* reply, monotonic_time sent_at) {
  if (reply == nullptr) {
    const auto end =
        wish_->machine.on_missing(leasing::missing::unknown, {errc::unavailable, "lost"}, now());
    if (end) return changed(*end);
  } else {
    auto verdict = dialects::read_once(*reply);
    if (const auto said = dialects::time_in(verdict)) learn(sent_at, *said);
    const auto end = wish_->machine.on_verdict(std::move(verdict), now());
    if (end) return changed(*end);
  }
  later(world_.now() + world_.chance().time_up_to(5ms), [this, mine = wish_->id] {
    if (wish_ && wish_->id == mine) send_change();
  });
}

// Where not all who wait were told yet, the rest is.
void walker::changed(const leasing::once_machine::end& how) {
  const std::string id{wish_->id.text()};
  bool more = false;
  if (const auto* const failed = std::get_if<leasing::outcome>(&how)) {
    const bool doubtful = failed->detail.find("may have been executed") != std::string::npos;
    world_.latch()->change_failed(id, doubtful);
  } else {
    const auto verdict =
        dialects::read_latch_change(world_.key(), std::get<dialects::once_answer>(how));
    const auto* const done = std::get_if<dialects::latch_change>(&verdict);
    more = done != nullptr && done->more;
    if (!more || !wish_->sets) world_.latch()->change_done(id);
  }
  wish_.reset();
  if (more) return change_to(false, 0);
  const auto pause = world_.faults() ? 3 * think_time() : nanoseconds{500ms};
  later(world_.now() + pause, [this] { change(); });
}

}  // namespace holdfast::simulation::gates
