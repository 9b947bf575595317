/// \file
/// The modes in which a lock can be held.
#pragma once

namespace holdfast {

/// What `lease::mode()` says, and with it which holders can hold the lock at the same time. The
/// letters are those of the layout (docs/wire/holdfast.md).
enum class lease_mode : char {
  none = 0,                ///< it is not held
  null = 'n',              ///< NL: beside everybody
  concurrent_read = 'c',   ///< CR: beside all but EX
  concurrent_write = 'd',  ///< CW: beside NL, CR and CW
  shared = 'r',            ///< a reader, PR: beside NL, CR, PR and an upgradeable reader
  upgradeable = 'u',       ///< an upgradeable reader: beside NL, CR and readers
  protected_write = 'p',   ///< PW: beside NL and CR
  exclusive = 'x',         ///< a mutex, a writer, EX: alone, or beside NL
  permits = 's',           ///< permits of a semaphore
  several = '+',           ///< the locks of an `all_of`, each in its own: see `parts()`
};

}  // namespace holdfast
