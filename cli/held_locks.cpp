#include "cli/held_locks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <holdfast/all_of.hpp>

#include "cli/complaint.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

constexpr const char* variable = "HOLDFAST_HELD";

std::string inherited() {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string{} : std::string{value};
}

std::string mark_of(const lock_holding& grant) {
  return grant.token ? grant.token.to_string() : grant.who.id;
}

std::string entry(const std::string& name, const std::string& mark) {
  return unambiguous(name) + "=" + unambiguous(mark);
}

bool is_listed(std::string_view list, std::string_view wanted) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const auto end = std::min(list.find(',', begin), list.size());
    if (list.substr(begin, end - begin) == wanted) return true;
    begin = end + 1;
  }
  return false;
}

bool is_reading(const lock_share& share) { return share.mode == "PR"; }

// Whether the lock cannot be had as long as these are held.
bool excludes(const std::vector<lock_holding>& ours, const lock_status& status,
              const lock_choice& wanted) {
  if (ours.empty()) return false;
  if (wanted.of == lock_choice::kind::shared) {
    return !std::ranges::all_of(ours, is_reading, &lock_holding::has);
  }
  if (wanted.of != lock_choice::kind::permits) return true;
  std::uint64_t kept = wanted.wanted;
  for (const auto& one : ours) kept += one.has.permits;
  return kept > status.permits.value_or(wanted.permits);
}

}  // namespace

std::string unambiguous(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = byte > 0x20 && byte != 0x7f && c != '%' && c != ',' && c != '=';
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return text;
}

std::vector<grant_mark> marks_of(const lease& held, const lock_view& view) {
  std::vector<grant_mark> all;
  for (const auto& part : parts(held)) {
    all.push_back({part.name, part.token ? part.token.to_string() : std::string{}});
    if (part.token) continue;
    const auto status = view.status(part.name);
    // Of several that hold it nobody can say which is ours.
    if (status && status->holders.size() == 1) all.back().mark = mark_of(status->holders.front());
  }
  return all;
}

grants_at_server look_at(const std::vector<grant_mark>& grants, const lock_view& view) {
  for (const auto& grant : grants) {
    const auto status = view.status(grant.name);
    if (!status) return grants_at_server::unknown;
    const auto is_it = [&](const lock_holding& one) {
      return grant.mark.empty() || mark_of(one) == grant.mark;
    };
    if (std::ranges::any_of(status->holders, is_it)) return grants_at_server::held;
  }
  return grants_at_server::gone;
}

std::string held_variable(const std::vector<grant_mark>& grants) {
  auto list = inherited();
  for (const auto& grant : grants) {
    if (grant.mark.empty()) continue;
    list += (list.empty() ? "" : ",") + entry(grant.name, grant.mark);
  }
  return std::string(variable) + "=" + list;
}

void refuse_to_wait_for_ourselves(const lock_view& view) {
  const auto list = inherited();
  for (const auto& name : view.lock().names) {
    if (("," + list).find("," + unambiguous(name) + "=") == std::string::npos) continue;
    const auto status = view.status(name);
    if (!status) continue;
    std::vector<lock_holding> ours;
    std::ranges::copy_if(status->holders, std::back_inserter(ours), [&](const auto& one) {
      return is_listed(list, entry(name, mark_of(one)));
    });
    if (!excludes(ours, *status, view.lock())) continue;
    throw complaint{
        exit_code_for(errc::would_deadlock), holdfast::name_of(errc::would_deadlock),
        fmt::format("'{}' is held by {}, which runs the command that this one is part "
                    "of: each would wait for the other. Take the lock once, or unset {} "
                    "if that command does not wait for this one",
                    name, show_owner(ours.front().who), variable)};
  }
}

}  // namespace holdfast::cli
