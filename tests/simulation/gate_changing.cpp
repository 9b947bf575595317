// One who changes what is there, once: as api::ask_once does.
#include <utility>

#include "simulation/gate_world.hpp"

namespace holdfast::simulation::gates {

using namespace std::chrono_literals;

namespace {

// connect_timeout and twice response_timeout.
constexpr nanoseconds patience = 400ms + 2 * response_timeout;

}  // namespace

void walker::change() {
  if (world_.closes() || wish_) return;
  if (!world_.has_gate() && world_.chance().chance(20)) plan_mishaps();
  const request_id id{id_, ++requests_};
  change_to(id, world_.changes()->draw(std::string{id.text()}));
}

void walker::change_to(request_id id, dialects::once_call call) {
  wish_.emplace(
      wish{.call = std::move(call), .id = id, .machine = leasing::once_machine{now() + patience}});
  send_change();
}

void walker::send_change() {
  errand sent{.repeatable = true};
  resp::writer out{sent.bytes};
  connect();  // whose time it asks
  dialects::write_once(key_space{}, wish_->call, wish_->id, wish_->machine.not_after(sending()),
                       out);
  const std::string id{wish_->id.text()};
  sent.executed = [this, id](const resp::value& reply) { world_.changes()->executed(id, reply); };
  sent.heard = [this, mine = wish_->id](const resp::value* reply, monotonic_time sent_at,
                                        std::uint64_t) {
    if (wish_ && wish_->id == mine) change_answered(reply, sent_at);
  };
  send(std::move(sent));
}

void walker::change_answered(const resp::value* reply, monotonic_time sent_at) {
  if (reply == nullptr) {
    const auto end =
        wish_->machine.on_missing(no_answer::unknown, {errc::unavailable, "lost"}, now());
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

void walker::changed(const leasing::once_machine::end& how) {
  auto& changes = *world_.changes();
  changes.ended(std::string{wish_->id.text()}, how);
  wish_.reset();
  if (const auto* const answer = std::get_if<substrate::once_answer>(&how)) {
    const request_id next{id_, ++requests_};
    if (auto call = changes.follow(*answer, std::string{next.text()})) {
      return change_to(next, *std::move(call));
    }
    if (!world_.has_gate()) ++world_.result().grants, served_ = !world_.faults();
  }
  const auto pause = world_.faults() ? 3 * think_time() : nanoseconds{500ms};
  later(world_.now() + pause, [this] { change(); });
}

}  // namespace holdfast::simulation::gates
