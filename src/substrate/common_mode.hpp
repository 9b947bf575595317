// The modes of locks: their names, and what two have in common.
#pragma once

#include <string_view>

namespace holdfast::substrate {

// With which modes each does not go together.
std::string_view conflicts_of(char mode) noexcept;

// The strongest mode that excludes only modes that both exclude. A holder that has one of the two,
// and does not know which, can count on it.
char common_mode(char one, char other) noexcept;

// "NL", "CR", "CW", "PR", "PW", "EX", "U"; empty for permits.
std::string_view name_of_mode(char mode) noexcept;

}  // namespace holdfast::substrate
