// Tells the user's observer and log what happens.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>

#include "runtime/callback_thread.hpp"

namespace holdfast::runtime {

// Exists only where somebody listens. Thread safety: all members from any thread.
class reporter {
 public:
  // Null: nobody listens.
  static std::unique_ptr<const reporter> of(const client_options& options, callback_thread& there);

  // On this thread: one of the user's, or the callback thread, with no mutex of ours.
  void tell(const event& what) const noexcept;
  // Soon, on the callback thread: from any thread and under any mutex. Where there is no memory for
  // that, nobody is told.
  void post(const event& what) const noexcept;

 private:
  class notice;

  reporter(const client_options& options, callback_thread& there);
  void write(log_level level, std::string_view line) const noexcept;

  const std::shared_ptr<observer> observer_;
  const std::function<void(log_level, std::string_view)> log_;
  callback_thread& callbacks_;
};

}  // namespace holdfast::runtime
