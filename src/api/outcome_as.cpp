#include <holdfast/detail/acquire_operation.hpp>

#include <utility>

#include "redis/dialects/recipe.hpp"

namespace holdfast::detail {
namespace {

// The server's part of the token, which is the same for all parties that pass a barrier together.
std::uint64_t generation_of(const lease& passed) {
  return passed.token().value() / substrate::minors_per_major;
}

}  // namespace

template <>
lease outcome_as<lease>(result<lease> got) {
  return std::move(got).value();
}

template <>
void outcome_as<void>(result<lease> got) {
  (void)got.value();
}

template <>
result<void> outcome_as<result<void>>(result<lease> got) {
  return got ? result<void>{} : result<void>{got.error()};
}

template <>
std::uint64_t outcome_as<std::uint64_t>(result<lease> got) {
  return generation_of(got.value());
}

template <>
result<std::uint64_t> outcome_as<result<std::uint64_t>>(result<lease> got) {
  if (!got) return got.error();
  return generation_of(*got);
}

}  // namespace holdfast::detail
