#include "redis/connection/demotion.hpp"

#include <algorithm>

namespace holdfast::redis {
namespace {

bool refuses(const resp::value& said) noexcept {
  const bool may = said.text.starts_with("READONLY") || said.text.starts_with("-READONLY");
  return may && (said.is(resp::type::error) || said.is_text());
}

}  // namespace

bool tells_of_demotion(const resp::value& said) noexcept {
  return refuses(said) || std::ranges::any_of(said.items, refuses);
}

}  // namespace holdfast::redis
