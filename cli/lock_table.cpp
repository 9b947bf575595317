#include "cli/lock_table.hpp"

#include <fmt/format.h>

#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {

std::vector<std::string> row(const lock_status& lock) {
  const auto name = printable(lock.name);
  switch (lock.what) {
    case lock_status::state::free:
      return {name, "free"};
    case lock_status::state::foreign:
      return {name, "not a Holdfast lock: " + printable(lock.detail)};
    case lock_status::state::held:
      break;
  }
  return {
      name,
      "held",
      lock.owner.host.empty() ? "?" : printable(lock.owner.host),
      lock.owner.host.empty() ? "?" : std::to_string(lock.owner.pid),
      lock.owner.host.empty() ? "id " + printable(lock.owner.id) : printable(lock.owner.program),
      show_since(lock),
      lock.token.to_string(),
      lock.remaining ? show_duration(*lock.remaining) : "no end"};
}

}  // namespace

std::string lock_table(const std::vector<lock_status>& locks) {
  table rows({"NAME", "STATE", "HOST", "PID", "PROGRAM", "SINCE", "TOKEN", "TIME LEFT"});
  for (const auto& lock : locks) rows.add(row(lock));
  return rows.text();
}

}  // namespace holdfast::cli
