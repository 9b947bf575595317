#include "cli/lock_table.hpp"

#include <fmt/format.h>

#include "cli/duration.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {
namespace {}  // namespace

std::string show_kind(const lock_status& lock) {
  switch (lock.kind) {
    case lock_kind::unknown:
    case lock_kind::several:
      break;
    case lock_kind::mutex:
      return "mutex";
    case lock_kind::mode_lock:
      return "mode lock";
    case lock_kind::semaphore:
      return fmt::format("semaphore {}{}", lock.permits_in_use,
                         lock.permits ? fmt::format("/{}", *lock.permits) : "");
    case lock_kind::latch:
      return fmt::format("latch {}", lock.count);
    case lock_kind::barrier:
      return fmt::format("barrier {}/{}", lock.waiting, lock.count);
  }
  return {};
}

void add_who(const holder& who, std::vector<std::string>& cells) {
  const bool known = !who.host.empty();
  cells.push_back(known ? printable(who.host) : "?");
  cells.push_back(known ? std::to_string(who.pid) : "?");
  cells.push_back(known ? printable(who.program) : "id " + printable(who.id));
}

std::string show_remaining(std::optional<std::chrono::milliseconds> time) {
  return time ? show_duration(*time) : "no end";
}

namespace {

std::vector<std::string> row(const lock_status& lock) {
  const auto name = printable(lock.name);
  switch (lock.state) {
    case lock_state::free:
      return {name, "free"};
    case lock_state::foreign:
      return {name, "not a Holdfast lock: " + printable(lock.detail)};
    case lock_state::shut:
      return {
          name, "shut", show_kind(lock), "", "", "", "", "", "", "", std::to_string(lock.waiting)};
    case lock_state::held:
      break;
  }
  std::vector<std::string> cells = {name, "held", show_kind(lock), std::to_string(lock.holding)};
  add_who(lock.owner, cells);
  cells.insert(cells.end(), {show_since(lock), lock.token.to_string(),
                             show_remaining(lock.remaining), std::to_string(lock.waiting)});
  return cells;
}

std::vector<std::string> headings() {
  return {"NAME",    "STATE", "KIND",  "HOLDERS",   "HOST",   "PID",
          "PROGRAM", "SINCE", "TOKEN", "TIME LEFT", "WAITING"};
}

std::string holders_table(const lock_status& lock) {
  table rows({"HAS", "HOST", "PID", "PROGRAM", "SINCE", "TOKEN", "TIME LEFT", "NOTE"});
  for (const auto& one : lock.holders) {
    std::vector<std::string> cells = {show_share(one.has)};
    add_who(one.who, cells);
    cells.insert(cells.end(), {one.since ? show_time(*one.since) : "", one.token.to_string(),
                               show_remaining(one.remaining), printable(one.note)});
    rows.add(std::move(cells));
  }
  return fmt::format("\n{}: held by {}\n{}", printable(lock.name), lock.holding, rows.text());
}

std::string note_line(const lock_status& lock) {
  if (lock.holders.empty() || lock.holders.front().note.empty()) return {};
  return fmt::format("\n{}: held for {}\n", printable(lock.name),
                     printable(lock.holders.front().note));
}

std::string queue_table(const lock_status& lock) {
  table rows({"PLACE", "WANTS", "HOST", "PID", "PROGRAM", "WAITS SINCE"});
  const bool is_shut = lock.state == lock_state::shut;  // nobody wants to have it
  std::size_t place = 0;
  for (const auto& one : lock.queue) {
    std::vector<std::string> cells = {std::to_string(++place),
                                      is_shut ? "" : show_share(one.wants)};
    add_who(one.who, cells);
    cells.push_back(show_time(one.since));
    rows.add(std::move(cells));
  }
  const auto more = lock.waiting > place ? fmt::format("and {} more\n", lock.waiting - place) : "";
  return fmt::format("\n{}: {} waiting\n{}{}", printable(lock.name), lock.waiting, rows.text(),
                     more);
}

}  // namespace

std::string lock_table(const std::vector<lock_status>& locks) {
  table rows(headings());
  for (const auto& lock : locks) rows.add(row(lock));
  return rows.text();
}

std::string dialect_table(const std::vector<lock_status>& locks) {
  const auto with = [](std::vector<std::string> cells, std::string dialect) {
    cells.insert(cells.begin() + 1, std::move(dialect));
    return cells;
  };
  table rows(with(headings(), "DIALECT"));
  for (const auto& lock : locks) {
    const bool is_unknown = lock.dialect == "token";
    rows.add(with(row(lock), printable(lock.dialect) + (is_unknown ? " (library unknown)" : "")));
  }
  return rows.text();
}

std::string lock_details(const lock_status& lock) {
  const bool by_several = lock.kind == lock_kind::mode_lock || lock.kind == lock_kind::semaphore;
  return (by_several && !lock.holders.empty() ? holders_table(lock) : note_line(lock)) +
         (lock.waiting > 0 ? queue_table(lock) : "");
}

}  // namespace holdfast::cli
