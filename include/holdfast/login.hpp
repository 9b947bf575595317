/// \file
/// A login that ends, as managed services give them.
#pragma once

#include <chrono>
#include <string>

namespace holdfast {

/// What `client_options::credentials` gives: a user name and a password or token, and how long they
/// are good.
///
/// Thread safety: a plain value.
struct login {
  /// Empty: `client_options::username`, or else the one in the URL.
  std::string username{};
  std::string password{};  ///< The password or token. It must not be empty.

  /// How long it is good from now on. Zero, the default: until a server refuses it. A negative time
  /// says that it has ended already, which counts as a failure.
  std::chrono::milliseconds valid_for{0};
};

}  // namespace holdfast
