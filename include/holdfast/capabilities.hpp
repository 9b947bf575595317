/// \file
/// What every kind of lock can do, and what it costs.
#pragma once

#include <string_view>
#include <vector>

namespace holdfast {

/// What one kind of lock, or of value, can do and costs. The views live for ever.
struct capability {
  std::string_view dialect;  ///< How it is written in Redis: "holdfast", or as `dialect::name()`.
  std::string_view kind;     ///< "mutex", ...
  std::string_view made_by;  ///< "client.mutex(name)", ...
  bool token;                ///< Every grant has a fencing token.
  bool renewed;              ///< Its lease can be renewed in the background.
  bool fair;                 ///< Strict order of arrival among all who wait, of all processes.
  bool reentrant;            ///< Its holder may acquire it again.
  bool told;                 ///< Who waits hears of a release; otherwise he asks again and again.
  bool handed_over;          ///< Who leaves makes the next ones go on, in the same trip.
  bool passed_on;            ///< Threads of one client pass it on among themselves, without a trip.
  unsigned to_acquire;       ///< Commands when it is free; of a value, for each call.
  unsigned to_release;
};

/// All kinds that there are.
[[nodiscard]] std::vector<capability> capabilities();

}  // namespace holdfast
