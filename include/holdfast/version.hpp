/// \file
/// The version of this library.
#pragma once

namespace holdfast {

/// Semantic version, as in CMake's `project()`: a test compares the two.
inline constexpr const char* version = "0.1.0";

}  // namespace holdfast
