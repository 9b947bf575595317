// Signals as something to read: no handler, so nothing runs at a bad moment.
#pragma once

#include <csignal>
#include <optional>

#include "cli/descriptor.hpp"

namespace holdfast::cli {

// Blocks the signals that `holdfast run` passes on and makes them readable. Made before any other
// thread, so that all threads inherit the mask. A signal that was ignored (nohup) stays ignored.
class signal_watch {
 public:
  signal_watch();

  int fd() const noexcept { return fd_.get(); }
  std::optional<int> next();  // never blocks
  // The next one that ends programs, and never blocks either. One that stops programs (Ctrl-Z)
  // stops us here, and when we go on we read on. `on_child` is called when a child has ended.
  std::optional<int> next_that_ends(void (*on_child)() = nullptr);
  const sigset_t& mask_before() const noexcept { return before_; }  // for the command

 private:
  sigset_t before_{};
  descriptor fd_;
};

// While this lives, a signal that ends programs ends this one at once, with 128 and its number: for
// a call that blocks and cannot be called off, when there is nothing to tidy up. Of the main
// thread.
class ends_at_once {
 public:
  ends_at_once();
  ~ends_at_once();
  ends_at_once(const ends_at_once&) = delete;
  ends_at_once& operator=(const ends_at_once&) = delete;

 private:
  sigset_t before_{};
};

// Whether this signal would end a program that does nothing about it.
bool ends_programs(int signal) noexcept;

// Whether whoever sends it wants a program to end, and not to read its settings anew, for example.
bool asks_to_end(int signal) noexcept;

// Thrown by what a signal has ended.
struct interrupted {
  int signal;
};

}  // namespace holdfast::cli
