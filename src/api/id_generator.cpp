#include <holdfast/id_generator.hpp>

#include <utility>

#include <holdfast/client.hpp>

#include "values/id_block.hpp"

namespace holdfast {

class id_generator::state final : public values::id_block {
  using id_block::id_block;
};

id_generator client::id_generator(std::string_view name, id_options options) const {
  if (options.block < 1 || options.block > 1'000'000'000) {
    throw failure{errc::invalid_argument, "block must be 1 to a thousand million"};
  }
  return holdfast::id_generator{
      std::make_shared<holdfast::id_generator::state>(core_, name, options.block)};
}

const std::string& id_generator::name() const noexcept { return state_->name(); }

std::int64_t id_generator::next() const { return state_->next(); }

}  // namespace holdfast
