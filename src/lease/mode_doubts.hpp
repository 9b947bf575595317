// In which modes a lease may be while requests change it.
#pragma once

#include <cstdint>
#include <string_view>

#include "substrate/common_mode.hpp"

namespace holdfast::leasing {

// A request that is to change the lease may have been carried out from when it is first sent. Until
// its end is known, the lease is good for no more than both modes allow. When nobody can ever say
// how the request has ended, the lease's next confirmed renewal shows it: a renewal finds the lease
// under the request and token that were granted.
//
// Another server may not have heard that a request was given up. It may still stand in the queue
// there, and be granted at any time: from then on the lease is good only for the modes that such a
// grant would leave.
class mode_doubts {
 public:
  void may_become(char other) noexcept {
    ++open_;
    modes_ |= bit(other);
    tried_ |= bit(other);
  }
  // One of those requests has ended without a change.
  void stays() noexcept { close(1); }
  // Nobody knows how one of them has ended.
  void may_stay() noexcept { ++unclear_; }
  // A renewal has shown how those have ended.
  void confirmed() noexcept {
    close(unclear_);
    unclear_ = 0;
  }
  // Another server has taken over.
  void moved() noexcept { lasting_ = tried_; }

  // The mode that a lease granted in `mode` is certainly good for.
  char good_for(char mode) const noexcept {
    for (std::uint8_t i = 0; i < every_mode.size(); ++i) {
      if (((modes_ | lasting_) >> i & 1U) != 0) mode = substrate::common_mode(mode, every_mode[i]);
    }
    return mode;
  }

 private:
  static constexpr std::string_view every_mode = "ncdrpxu";
  static std::uint8_t bit(char mode) noexcept {
    return static_cast<std::uint8_t>(1U << every_mode.find(mode));
  }
  void close(std::uint16_t ended) noexcept {
    open_ = static_cast<std::uint16_t>(open_ - ended);
    if (open_ == 0) modes_ = 0;
  }

  std::uint16_t open_ = 0;     // requests whose end is not known, with those that are unclear
  std::uint16_t unclear_ = 0;  // of these: nobody will say how they have ended
  std::uint8_t modes_ = 0;     // of the open ones: a bit for each
  std::uint8_t tried_ = 0;     // of all that were ever asked for
  std::uint8_t lasting_ = 0;   // of those that were asked of a server before this one
};

}  // namespace holdfast::leasing
