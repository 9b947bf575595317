// Which readers of one client share a grant of the server. No clock, mutex or thread.
#pragma once

#include <cstdint>

#include "base/time.hpp"
#include "lease/local_turns.hpp"
#include "substrate/claim.hpp"

namespace holdfast::leasing {

// A reader that comes while others of its client read joins them, and the server hears nothing of
// it. Its token is theirs with the next minor: above that of every earlier writer, below that of
// every later one.
//
//   a reader comes       | and nobody asks the server | and one asks for all
//   nobody reads         | asks                       | waits
//   in the first turn    | joins                      | joins
//   in the second turn   | asks                       | joins
//   later                | asks                       | waits
//
// For writers may be waiting at the server, where the reader that asks stands behind them. Half of
// the minors are for the first turn. Nobody joins a grant whose lease is nearly over, or whose
// tokens a resource refuses.
class reader_turns {
 public:
  // The readers under one grant.
  struct share {
    substrate::token_major major = 0;
    std::uint32_t readers = 0;
    std::uint32_t minor = 0;  // of the last of them
  };

  explicit reader_turns(milliseconds lease) noexcept : enough_(enough_of(lease)) {}

  // `seen`: the lease of the last share.
  bool may_join(const local_turns::glance& seen) const noexcept;
  // Then the minor of its token.
  std::uint32_t join() noexcept;
  // The server has granted the lock to the first reader of this share, which others may join.
  void on_granted(share& made, monotonic_time now) noexcept;
  // True: that was the last of its readers, and the grant goes back.
  bool on_left(share& from) noexcept;

  // This request stands at the server for all from now on; and was it that one, until now?
  void ask(const void* request) noexcept { asker_ = request; }
  bool has_asked(const void* request) noexcept;

  // A resource refuses the tokens of grants up to this major.
  void raise_floor(substrate::token_major seen) noexcept;

 private:
  nanoseconds enough_;
  share* last_ = nullptr;
  monotonic_time turn_ends_{};
  substrate::token_major floor_ = 0;
  const void* asker_ = nullptr;
};

}  // namespace holdfast::leasing
