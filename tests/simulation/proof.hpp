// The proof that stands in the queue with a request, and in the message of its grant.
#pragma once

#include <cstdint>

namespace holdfast::simulation {

constexpr std::uint64_t proof_of(std::uint64_t request) noexcept {
  return request * 0x9e3779b97f4a7c15;
}

}  // namespace holdfast::simulation
