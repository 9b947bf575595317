// Lock names as positional arguments.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace holdfast::cli {

inline constexpr int many_names = 10'000;

// CLI11 would take "[a,b]" for a list and "{}" for nothing: names are read byte for byte. Those
// after "--" are in context::operands.
inline void add_names(CLI::App& command, std::vector<std::string>& names, int most) {
  const auto take = [&names](const CLI::results_t& words) {
    names = words;
    return true;
  };
  // Without extra arguments, CLI11 fills a positional up to its least number; "take all" is
  // content with fewer.
  command.add_option("NAME", CLI::callback_t(take), "Name of a lock; one like -x after --")
      ->expected(most, most == 1 ? 1 : -1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false)
      ->type_name("");
}

// As above, for a command that is given after "--": between that and another any name may stand, so
// that a script need not look at it.
inline void take_name_after_dashes(std::vector<std::string>& names,
                                   std::vector<std::string>& operands) {
  if (!names.empty() || operands.size() < 2 || operands[1] != "--") return;
  names.push_back(operands.front());
  operands.erase(operands.begin(), operands.begin() + 2);
}

// As above, for a pattern, of which there is one at most. Throws `CLI::ExtrasError`.
inline void take_dashed_pattern(std::optional<std::string>& pattern, context& shared) {
  shared.takes_operands = true;
  if (shared.operands.empty()) return;
  if (pattern || shared.operands.size() > 1) throw CLI::ExtrasError(shared.operands);
  pattern = shared.operands.front();
}

// For users that do not know any name.
inline constexpr const char* or_list_them = "; `holdfast ls` lists the locks that are held";

// All names that were given; throws `CLI::ParseError` when there are none (with what could be done
// otherwise) or more than `most`.
inline std::vector<std::string> all_names(const std::vector<std::string>& before,
                                          const std::vector<std::string>& after, std::size_t most,
                                          const char* otherwise = "") {
  auto all = before;
  all.insert(all.end(), after.begin(), after.end());
  if (all.empty()) throw CLI::ValidationError(std::string("NAME is required") + otherwise);
  if (all.size() > most) throw CLI::ExtrasError({all.begin() + 1, all.end()});
  return all;
}

}  // namespace holdfast::cli
