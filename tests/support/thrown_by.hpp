// The failure that a call throws.
#pragma once

#include <gtest/gtest.h>

#include <holdfast/errc.hpp>

namespace holdfast::support {

// Fails the test when `act` throws none.
template <typename Act>
failure thrown_by(Act&& act) {
  try {
    act();
  } catch (const failure& thrown) {
    return thrown;
  }
  ADD_FAILURE() << "nothing was thrown";
  return failure{errc{}};
}

}  // namespace holdfast::support
