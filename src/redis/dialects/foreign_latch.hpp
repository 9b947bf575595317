// Latches as another library writes them.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "redis/dialects/foreign_recipe.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

// A waiter asks whether it is open, and then goes on: nobody holds anything, and a grant has no
// end.
class foreign_latch : public foreign_recipe {
 public:
  // Changes that are executed once.
  virtual once_call set(const lock_key&, std::uint32_t count) const = 0;
  virtual once_call count_down(const lock_key&, std::uint32_t by) const = 0;
  virtual std::variant<latch_change, refused> read_change(const lock_key&,
                                                          const once_answer&) const = 0;

  // How often it must still be counted down; zero: it is open.
  virtual void write_query(std::string_view name, resp::writer&) const = 0;
  virtual std::variant<std::uint32_t, refused> read_count(std::string_view name,
                                                          const resp::value&) const = 0;

 protected:
  using foreign_recipe::foreign_recipe;
};

}  // namespace holdfast::dialects
