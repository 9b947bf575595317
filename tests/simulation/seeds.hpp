// Which seeds a test is to run: HOLDFAST_SEED=N that one alone, otherwise those from
// HOLDFAST_FIRST_SEED for HOLDFAST_SECONDS; HOLDFAST_KIND=NAME only of that kind.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "net/clock.hpp"

namespace holdfast::simulation {

inline std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// How many seeds a test runs each time: all of those that scripts/mutants counts on only when it
// asks for them. Fresh ones run elsewhere, for as long as one likes.
inline std::uint64_t usually(std::uint64_t all) {
  return number_in("HOLDFAST_ALL_SEEDS", 0) != 0 ? all : all / 4;
}

// Empty: of all kinds.
inline std::string_view kind_wanted() {
  const char* const kind = std::getenv("HOLDFAST_KIND");
  return kind == nullptr ? std::string_view{} : kind;
}

class seed_range {
 public:
  std::uint64_t first() const noexcept { return first_; }
  std::uint64_t present() const noexcept { return present_; }
  std::uint64_t count() const noexcept { return present_ - first_; }
  // Whether there is another one.
  bool next() noexcept { return ++present_ != first_ + (only_ ? 1 : 0) && net::now() < until_; }

 private:
  const bool only_ = number_in("HOLDFAST_SEED", 0) != 0;
  const std::uint64_t first_ = number_in("HOLDFAST_SEED", number_in("HOLDFAST_FIRST_SEED", 1));
  const monotonic_time until_ = net::now() + std::chrono::seconds{number_in("HOLDFAST_SECONDS", 1)};
  std::uint64_t present_ = first_;
};

// The runs of a kind that has a world of its own.
template <typename Simulate>
void keep_the_promises(std::string_view kind, Simulate simulate) {
  if (!kind_wanted().empty() && kind_wanted() != kind) GTEST_SKIP() << "another kind is wanted";
  seed_range wanted;
  std::uint64_t grants = 0, losses = 0;
  do {
    const auto result = simulate(wanted.present());
    ASSERT_EQ(result.violation, "")
        << "scripts/simulate --kind " << kind << " --seed " << wanted.present();
    grants += result.grants;
    losses += result.losses;
  } while (wanted.next());
  std::cout << kind << ": " << wanted.count() << " seeds from " << wanted.first() << ", " << grants
            << " grants, " << losses << " losses\n";
}

}  // namespace holdfast::simulation
