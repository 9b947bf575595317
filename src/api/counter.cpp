#include <holdfast/counter.hpp>

#include <utility>

#include <holdfast/client.hpp>

#include "calls/idempotent_call.hpp"
#include "dialects/holdfast/counter.hpp"
#include "values/counted_change.hpp"

namespace holdfast {
using values::change;

counter client::counter(std::string_view name) const { return {core_, name}; }

counter::counter(std::shared_ptr<runtime::client_core> core, std::string_view name)
    : core_(std::move(core)),
      key_(std::make_shared<dialects::value_key>(core_->engine().space(), "counter", name)),
      name_(name) {}

std::int64_t counter::get() const {
  const auto answer = calls::ask_again(
      *core_, key_->slot, [&](resp::writer& out) { dialects::write_counter_query(*key_, out); });
  return calls::accept(dialects::read_counter(*key_, answer));
}

std::int64_t counter::add(std::int64_t n) const {
  return change(*core_, *key_, dialects::counter_add(*key_, n)).value;
}

counter_change counter::subtract(std::int64_t n, std::int64_t not_below) const {
  if (n < 0) throw failure{errc::invalid_argument, "what is subtracted must not be negative"};
  const auto [changed, value] =
      change(*core_, *key_, dialects::counter_subtract(*key_, n, not_below));
  return {changed, value};
}

counter_change counter::compare_and_set(std::int64_t expected, std::int64_t desired) const {
  const auto [changed, value] =
      change(*core_, *key_, dialects::counter_compare_and_set(*key_, expected, desired));
  return {changed, value};
}

void counter::set(std::int64_t value) const {
  change(*core_, *key_, dialects::counter_set(*key_, value));
}

std::int64_t counter::update(std::string_view script, const std::vector<std::string>& args) const {
  const auto composed = dialects::update_script(script);
  return change(*core_, *key_, dialects::counter_update(*key_, composed, args)).value;
}

}  // namespace holdfast
