// A call that wants a lock, of which an observer hears how it ends.
#pragma once

#include <memory>
#include <stop_token>

#include "runtime/engine.hpp"
#include "runtime/lock_source.hpp"

namespace holdfast::runtime {

// Like wait() and ask() of the source, where the engine is observed.
acquired wait_observed(engine& of, lock_source& source, leasing::patience patience,
                       std::stop_token stop);
std::unique_ptr<acquisition> ask_observed(engine& of, std::shared_ptr<lock_source> source);

}  // namespace holdfast::runtime
