#include "cli/demo/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output.hpp"

namespace holdfast::cli::demo {
namespace {

std::string verdict(const outcome& result) {
  if (!result.workers_succeeded) return "a worker failed";
  const std::string books = result.exact() ? "exact" : "wrong";
  if (result.as_promised()) return books;
  switch (result.what) {
    case scenario::no_lock:
      return books + ", but nothing was oversold";
    case scenario::setnx:
      return books + ", but no lock of another was deleted";
    case scenario::holdfast:
      return books;
    case scenario::fenced:
      return result.exact() ? "exact, but nothing was late" : books;
  }
  return books;
}

}  // namespace

std::string as_table(const std::vector<outcome>& results) {
  table rows({"SCENARIO", "ORDERS", "SOLD", "LEFT", "OVERSOLD OR LOST", "FOREIGN LOCKS DELETED",
              "LATE WRITES REFUSED", "SECONDS", "VERDICT"});
  for (const auto& result : results) {
    rows.add({title(result.what), std::to_string(result.orders.size()), std::to_string(result.sold),
              std::to_string(result.left), std::to_string(result.error()),
              std::to_string(result.foreign_deleted), std::to_string(result.late_refused),
              fmt::format("{:.1f}", result.seconds), verdict(result)});
  }
  return rows.text();
}

nlohmann::ordered_json as_json(const sale& all, const std::vector<outcome>& results) {
  nlohmann::ordered_json out = {{"story", "stock"},
                                {"processes", all.processes},
                                {"threads", all.threads},
                                {"units", all.units},
                                {"as_promised", as_promised(results)},
                                {"scenarios", nlohmann::ordered_json::array()}};
  for (const auto& result : results) {
    out["scenarios"].push_back({{"scenario", key_of(result.what)},
                                {"orders", result.orders.size()},
                                {"sold", result.sold},
                                {"left", result.left},
                                {"oversold_or_lost", result.error()},
                                {"holders_frozen", result.frozen},
                                {"foreign_locks_deleted", result.foreign_deleted},
                                {"two_holders_seen", result.saw_two_inside},
                                {"late_writes_refused", result.late_refused},
                                {"seconds", result.seconds},
                                {"exact", result.exact()},
                                {"verdict", verdict(result)}});
  }
  return out;
}

bool as_promised(const std::vector<outcome>& results) {
  return std::ranges::all_of(results, [](const auto& one) { return one.as_promised(); });
}

}  // namespace holdfast::cli::demo
