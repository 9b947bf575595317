/// \file
/// Who is behind a lock.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// Who holds a lock, as far as the holder's entry in the client registry tells.
struct holder {
  /// The request id, shortened: enough to tell holders apart. Of another library's lock as much of
  /// its text; there it may be any bytes.
  std::string id;
  std::string host;  ///< Empty when the registry entry is gone (a foreign or dead client).
  std::int64_t pid = 0;
  std::string program;
  std::string version;  ///< The holder's Holdfast version.
  /// All that the lock of another library tells of its holder, any bytes. Whoever knows it can
  /// release such a lock, so it is for operators. Empty of our own locks.
  std::string foreign_text;
};

}  // namespace holdfast
