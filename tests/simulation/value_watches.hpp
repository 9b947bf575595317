// The values that a run of simulation/values.hpp changes.
#pragma once

#include <memory>

#include "simulation/change_watch.hpp"

namespace holdfast::simulation::gates {

std::shared_ptr<change_watch> watch_counter(world& of);
std::shared_ptr<change_watch> watch_fenced_write(world& of);
std::shared_ptr<change_watch> watch_rate_limiter(world& of);
std::shared_ptr<change_watch> watch_value_block(world& of);

}  // namespace holdfast::simulation::gates
