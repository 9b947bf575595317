// Acquires several locks one after another without blocking.
#pragma once

#include <memory>
#include <string>

#include "runtime/lock_source.hpp"
#include "several/gathered.hpp"

namespace holdfast::several {

// `name`: of all of them.
std::unique_ptr<runtime::acquisition> gather(const std::shared_ptr<const lock_list>& wanted,
                                             const std::string& name);

}  // namespace holdfast::several
