// The modes of the reference: the table is that of tests/support/modes.hpp.
#pragma once

#include <array>
#include <cstddef>

#include <holdfast/mode_lock.hpp>

#include "support/modes.hpp"

namespace holdfast::reference {

using support::go_together;
using support::mode;
using support::mode_names;
using support::name_of;
using support::no_more;
using support::writes;

inline lock_mode public_mode(mode m) {
  static constexpr std::array<lock_mode, 6> modes{
      lock_mode::null,           lock_mode::concurrent_read, lock_mode::concurrent_write,
      lock_mode::protected_read, lock_mode::protected_write, lock_mode::exclusive};
  return modes.at(static_cast<std::size_t>(m));
}

}  // namespace holdfast::reference
