/// \file
/// The kinds of locks.
#pragma once

namespace holdfast {

/// The kind of a lock. Read-write locks are mode locks; recursive mutexes, elections and locks of a
/// quorum are mutexes. New ones are added at the end.
enum class lock_kind {
  unknown,    ///< A key does not tell.
  mutex,      ///< One holder at a time can have it.
  mode_lock,  ///< Many can have it, in modes that go together.
  semaphore,  ///< A lock with permits.
  latch,      ///< A number that is counted down, and its waiters. Nobody holds it.
  barrier,    ///< Where parties wait for each other. Nobody holds it.
  several,    ///< The locks of an `all_of`. No key tells of it.
};

/// Whether it has holders. A latch and a barrier are only waited for.
constexpr bool has_holders(lock_kind of) noexcept {
  return of != lock_kind::latch && of != lock_kind::barrier;
}

}  // namespace holdfast
