// What lives until the process has ended.
#pragma once

#include <utility>

namespace holdfast {

// For what a function keeps in a static reference: destructors of a user's static objects may still
// use the library when those of its own would have run. A build with clang refuses statics that
// have one (-Wexit-time-destructors).
template <typename T>
const T& never_destroyed(T what) {
  return *new T{std::move(what)};
}

}  // namespace holdfast
