#include <holdfast/counter.hpp>

#include <utility>

#include <holdfast/client.hpp>

#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/holdfast/counter.hpp"
#include "values/counted_change.hpp"

namespace holdfast {
using values::change;

// Where it is.
struct counter::state {
  std::shared_ptr<runtime::client_core> core;
  dialects::value_key key;
  std::string name;
};

counter client::counter(std::string_view name) const {
  using state = holdfast::counter::state;
  return holdfast::counter{std::make_shared<const state>(
      state{core_, {core_->engine().space(), "counter", name}, std::string{name}})};
}

const std::string& counter::name() const noexcept { return state_->name; }

std::int64_t counter::get() const {
  const auto answer = calls::ask_again(*state_->core, state_->key.slot, [&](resp::writer& out) {
    dialects::write_counter_query(state_->key, out);
  });
  return calls::accept(dialects::read_counter(state_->key, answer));
}

std::int64_t counter::add(std::int64_t n) const {
  return change(*state_->core, state_->key, dialects::counter_add(state_->key, n)).value;
}

counter_change counter::subtract(std::int64_t n, std::int64_t not_below) const {
  if (n < 0) throw failure{errc::invalid_argument, "the number to subtract must not be negative"};
  const auto [changed, value] =
      change(*state_->core, state_->key, dialects::counter_subtract(state_->key, n, not_below));
  return {changed, value};
}

counter_change counter::compare_and_set(std::int64_t expected, std::int64_t desired) const {
  const auto [changed, value] =
      change(*state_->core, state_->key,
             dialects::counter_compare_and_set(state_->key, expected, desired));
  return {changed, value};
}

void counter::set(std::int64_t value) const {
  change(*state_->core, state_->key, dialects::counter_set(state_->key, value));
}

std::int64_t counter::update(std::string_view script, const std::vector<std::string>& args) const {
  const auto composed = dialects::update_script(script);
  return change(*state_->core, state_->key, dialects::counter_update(state_->key, composed, args))
      .value;
}

}  // namespace holdfast
