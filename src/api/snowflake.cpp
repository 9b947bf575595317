#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/id_generator.hpp>

#include "base/lock_key.hpp"
#include "values/machine_ids.hpp"

namespace holdfast {

class snowflake_generator::state {
 public:
  state(const std::shared_ptr<runtime::client_core>& core, std::string_view of_all,
        std::uint32_t number, lease won)
      : name(of_all),
        machine(number),
        held(std::move(won)),
        ids(core, number, core->engine().key_of(held.name()).slot(), held.token()) {}

  const std::string name;
  const std::uint32_t machine;
  const lease held;
  values::machine_ids ids;
};

snowflake_generator client::snowflake(std::string_view name,
                                      const snowflake_options& options) const {
  if (options.machines < 1 || options.machines > values::snowflake::machines) {
    throw failure{errc::invalid_argument, "machines must be 1 to 1024"};
  }
  (void)core_->engine().key_of(name);  // throws when it is no name
  const auto first = core_->engine().next_seed() % options.machines;
  for (std::uint32_t tried = 0; tried < options.machines; ++tried) {
    const auto machine = static_cast<std::uint32_t>((first + tried) % options.machines);
    auto held = mutex(std::string{name} + ":machine:" + std::to_string(machine)).try_acquire();
    if (held) {
      return snowflake_generator{
          std::make_shared<snowflake_generator::state>(core_, name, machine, *std::move(held))};
    }
    if (held.error().reason() != errc::busy) throw failure{held.error()};
  }
  throw failure{errc::busy,
                "all " + std::to_string(options.machines) + " machine numbers are taken"};
}

const std::string& snowflake_generator::name() const noexcept { return state_->name; }

std::uint32_t snowflake_generator::machine() const noexcept { return state_->machine; }

std::int64_t snowflake_generator::next() const {
  const auto id = state_->ids.next();
  // After the look at the clock: the time in the id is one at which the number was ours.
  if (!state_->held.held()) {
    throw failure{errc::lost, "the lease of machine number " + std::to_string(machine()) +
                                  " has ended; make another generator"};
  }
  return id;
}

}  // namespace holdfast
