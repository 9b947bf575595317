#include <holdfast/capabilities.hpp>

#include "redis/dialects/catalog.hpp"

namespace holdfast {

std::vector<capability> capabilities() {
  std::vector<capability> all;
  for (const auto& row : dialects::catalog()) all.push_back(row.what);
  return all;
}

}  // namespace holdfast
