// Runs a function however a scope is left.
#pragma once

namespace holdfast {

// Calls `what` then. Thread safety: belongs to the thread that made it.
template <typename F>
class at_exit {
 public:
  explicit at_exit(F& what) noexcept : what_(what) {}
  ~at_exit() { what_(); }
  at_exit(const at_exit&) = delete;
  at_exit& operator=(const at_exit&) = delete;

 private:
  F& what_;
};

}  // namespace holdfast
