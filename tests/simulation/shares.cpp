#include "simulation/shares.hpp"

#include <cstddef>
#include <string_view>

namespace holdfast::simulation {
namespace {

// With what each mode goes together: the table of VMS, and U, beside which others may read.
std::string_view friends_of(char mode) {
  switch (mode) {
    case 'n':
      return "ncdrpxu";
    case 'c':
      return "ncdrpu";
    case 'd':
      return "ncd";
    case 'r':
      return "ncru";
    case 'p':
      return "nc";
    case 'x':
      return "n";
    case 'u':
      return "ncr";
    default:
      return {};
  }
}

}  // namespace

share share_of(const substrate::demand* wanted) {
  if (wanted == nullptr) return {'x', 1};
  return {wanted->mode, wanted->weight};
}

bool go_together(std::span<const share> all, std::uint32_t limit) {
  std::uint64_t permits = 0;
  const bool of_permits = !all.empty() && all.front().mode == 's';
  for (std::size_t i = 0; i < all.size(); ++i) {
    if ((all[i].mode == 's') != of_permits) return false;
    if (of_permits) {
      permits += all[i].weight;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (friends_of(all[i].mode).find(all[j].mode) == std::string_view::npos) return false;
    }
  }
  return permits == 0 || permits <= limit;
}

}  // namespace holdfast::simulation
