// The part of the catalog that has other libraries' locks.
#pragma once

#include <vector>

#include "redis/dialects/catalog.hpp"

namespace holdfast::dialects {

std::vector<catalog_entry> foreign_entries();

}  // namespace holdfast::dialects
