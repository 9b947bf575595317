#include "support/setting.hpp"

namespace holdfast::bench {

void setting::on_each_placement(
    std::string_view name, const std::function<void(const std::string& prefix)>& answer) const {
  for (const auto where : {placement::two_cores, placement::same_core}) {
    redis.place(where);
    answer(std::string(name) + "." + to_string(where) + ".");
  }
  redis.place(placement::free);
}

}  // namespace holdfast::bench
