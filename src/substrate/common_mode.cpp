#include "substrate/common_mode.hpp"

namespace holdfast::substrate {

// As in dialects/holdfast/shared/parts/fits.lua.
std::string_view conflicts_of(char mode) noexcept {
  switch (mode) {
    case 'c':
      return "x";
    case 'd':
      return "rpxu";
    case 'r':
      return "dpx";
    case 'u':
      return "dpxu";
    case 'p':
      return "drpxu";
    case 'x':
      return "cdrpxu";
    default:
      return {};
  }
}

char common_mode(char one, char other) noexcept {
  const auto is_within = [](std::string_view part, std::string_view whole) {
    for (const char each : part) {
      if (whole.find(each) == whole.npos) return false;
    }
    return true;
  };
  for (const char mode : std::string_view{"xpudrc"}) {
    const auto against = conflicts_of(mode);
    if (is_within(against, conflicts_of(one)) && is_within(against, conflicts_of(other))) {
      return mode;
    }
  }
  return 'n';
}

std::string_view name_of_mode(char mode) noexcept {
  switch (mode) {
    case 'n':
      return "NL";
    case 'c':
      return "CR";
    case 'd':
      return "CW";
    case 'r':
      return "PR";
    case 'p':
      return "PW";
    case 'x':
      return "EX";
    case 'u':
      return "U";
    default:
      return {};
  }
}

}  // namespace holdfast::substrate
