#include "redis/connection/answers.hpp"

#include "base/thread_scratch.hpp"

namespace holdfast::redis {

answers& answers::mine() { return thread_scratch<answers>(); }

void answers::prepare() { mine().batch_.prepare(); }

void answers::clear() noexcept { batch_.clear(); }

answers::summary answers::match(request_queue& in_flight, const net::waiter* leader) noexcept {
  summary found;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto& said = batch_[i];
    auto* const oldest = in_flight.first();
    if (oldest == nullptr || !oldest->is_answered_by(said)) {
      if (oldest == nullptr ? said.is(resp::type::push) : oldest->is_preceded_by(said)) {
        if (!said.is(resp::type::push)) oldest->on_first_answer(said);
        continue;
      }
      found.credible = false;
      break;
    }
    request* const r = in_flight.pop();
    found.for_leader = found.for_leader || (leader != nullptr && r->sleeper() == leader);
    found.for_a_thread = found.for_a_thread || r->sleeper() != nullptr;
    r->set_sleeper(nullptr);  // it may leave now; nobody would find the request in flight
    answered_.push(*r);
  }
  matched_ = answered_.size();
  return found;
}

}  // namespace holdfast::redis
