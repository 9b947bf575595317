// The parts that every story needs behind the scenes.
#pragma once

#include <functional>

#include "cli/signals.hpp"

namespace holdfast::cli::demo {

// Removes what a story has left, however it ends; says so when it cannot.
class clean_up {
 public:
  explicit clean_up(std::function<void()> removal) : removal_(std::move(removal)) {}
  ~clean_up();
  clean_up(const clean_up&) = delete;
  clean_up& operator=(const clean_up&) = delete;

 private:
  const std::function<void()> removal_;
};

// The time between two looks at the workers. Throws `interrupted`.
void pause_unless_interrupted(signal_watch& signals);

}  // namespace holdfast::cli::demo
