// In which modes a lock can be held, and who may hold it together. Written from
// include/holdfast/mode_lock.hpp ("How a `mode_lock` is held, and who may hold it at the same
// time"), include/holdfast/read_write_lock.hpp ("Together with other readers and one upgradeable
// holder.", "Together with readers, and able to become the writer.") and docs/kinds.md ("A
// read-write lock of the same name is the same lock: readers hold PR, the writer EX."), not from
// what the library does: the checker of histories and the reference judge by it.
//
// Stands on the standard library alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::support {

// A mutex is held in EX, U is an upgradeable reader's. Permits have no mode.
enum class mode : std::size_t { nl, cr, cw, pr, pw, ex, u };

inline constexpr std::array<const char*, 7> mode_names{"NL", "CR", "CW", "PR", "PW", "EX", "U"};

inline std::string name_of(mode m) { return mode_names[static_cast<std::size_t>(m)]; }

inline std::optional<mode> mode_named(std::string_view name) {
  const auto* const found = std::find(mode_names.begin(), mode_names.end(), name);
  if (found == mode_names.end()) return std::nullopt;
  return static_cast<mode>(found - mode_names.begin());
}

// By the letter that the layout has for it (docs/wire/holdfast.md).
inline std::optional<mode> mode_of(char letter) {
  constexpr std::string_view letters = "ncdrpxu";
  const auto found = letters.find(letter);
  if (found == letters.npos) return std::nullopt;
  return static_cast<mode>(found);
}

// The table of the classic lock managers, and U beside it. That U goes with NL and CR is said by no
// document: a reader (PR) goes with both, and an upgradeable reader is one.
inline bool go_together(mode a, mode b) {
  static constexpr bool table[7][7] = {{true, true, true, true, true, true, true},        // NL
                                       {true, true, true, true, true, false, true},       // CR
                                       {true, true, true, false, false, false, false},    // CW
                                       {true, true, false, true, false, false, true},     // PR
                                       {true, true, false, false, false, false, false},   // PW
                                       {true, false, false, false, false, false, false},  // EX
                                       {true, true, false, true, false, false, false}};   // U
  return table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

// Whether whatever goes with `a` goes with `b` as well: b is no more than a.
inline bool no_more(mode b, mode a) {
  for (std::size_t other = 0; other < mode_names.size(); ++other) {
    if (go_together(a, mode{other}) && !go_together(b, mode{other})) return false;
  }
  return true;
}

// A token orders writers and the holders before and after them; it need not order readers among
// themselves.
inline bool writes(mode m) { return m == mode::cw || m == mode::pw || m == mode::ex; }

}  // namespace holdfast::support
