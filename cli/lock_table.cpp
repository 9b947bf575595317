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
      lock.remaining ? show_duration(*lock.remaining) : "no end",
      std::to_string(lock.waiting)};
}

}  // namespace

std::string lock_table(const std::vector<lock_status>& locks) {
  table rows({"NAME", "STATE", "HOST", "PID", "PROGRAM", "SINCE", "TOKEN", "TIME LEFT", "WAITING"});
  for (const auto& lock : locks) rows.add(row(lock));
  return rows.text();
}

std::string queue_table(const lock_status& lock) {
  table rows({"PLACE", "HOST", "PID", "PROGRAM", "WAITS SINCE"});
  std::size_t place = 0;
  for (const auto& one : lock.queue) {
    const bool known = !one.who.host.empty();
    rows.add({std::to_string(++place), known ? printable(one.who.host) : "?",
              known ? std::to_string(one.who.pid) : "?",
              known ? printable(one.who.program) : "id " + printable(one.who.id),
              show_time(one.since)});
  }
  return "\n" + printable(lock.name) + ": " + std::to_string(lock.waiting) + " waiting\n" +
         rows.text();
}

}  // namespace holdfast::cli
