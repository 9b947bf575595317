/// \file
/// What each kind of lock can do, and what it costs.
#pragma once

#include <string_view>
#include <vector>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// What one kind of lock, or of value, can do and what it costs. docs/kinds.md shows the same table
/// and explains its columns. The views live for ever.
struct capability {
  std::string_view dialect;  ///< How it is written in Redis: "holdfast", or as `dialect::name()`.
  std::string_view kind;     ///< "mutex", ...
  std::string_view made_by;  ///< "client.mutex(name)", ...
  bool token;                ///< Every grant has a fencing token.
  bool renewed;              ///< Its lease can be renewed in the background.
  bool fair;                 ///< Waiters of all processes get it in strict order of arrival.
  bool reentrant;            ///< Its holder may acquire it again.
  /// A waiter is notified when it is released or opens. Otherwise it asks again and again.
  bool told;
  /// Hand-over: the call that frees it lets the next waiters in, in the same round trip.
  bool handed_over;
  /// Local hand-over: between threads and coroutines of one client, without the server.
  bool passed_on;
  /// Commands to acquire it when it is free; for a value, commands for each call.
  unsigned to_acquire;
  unsigned to_release;  ///< Commands to release it.
};

/// All kinds that there are.
HOLDFAST_EXPORT [[nodiscard]] std::vector<capability> capabilities();

}  // namespace holdfast
