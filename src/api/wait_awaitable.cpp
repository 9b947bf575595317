#include <holdfast/wait_awaitable.hpp>

#include "dialects/recipe.hpp"

namespace holdfast::detail {
namespace {

// The server's part of the token: what all who pass a barrier together are told.
std::uint64_t generation_of(const lease& passed) {
  return passed.token().value() / dialects::minors_per_major;
}

}  // namespace

template <>
void passed_as<void>(const result<lease>& how) {
  (void)how.value();
}

template <>
result<void> passed_as<result<void>>(const result<lease>& how) {
  return how ? result<void>{} : result<void>{how.error()};
}

template <>
std::uint64_t passed_as<std::uint64_t>(const result<lease>& how) {
  return generation_of(how.value());
}

template <>
result<std::uint64_t> passed_as<result<std::uint64_t>>(const result<lease>& how) {
  if (!how) return how.error();
  return generation_of(*how);
}

}  // namespace holdfast::detail
