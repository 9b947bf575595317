/// \file
/// The holder of a lock.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// The client that holds a lock or waits for it, as far as its entry in the client registry tells.
struct holder {
  /// The request id, shortened: enough to tell holders apart. For another library's lock it is as
  /// much of that library's text; it may then be any bytes.
  std::string id;
  std::string host;      ///< Empty when the registry entry is gone (a foreign or dead client).
  std::int64_t pid = 0;  ///< Process id on `host`. Zero when it is not known.
  std::string program;   ///< Its `client_options::name`, or the name of the program.
  std::string version;   ///< The holder's Holdfast version.
  /// All that the lock of another library tells of its holder, any bytes. Anybody who knows it can
  /// release such a lock, so it is for operators. Empty for our own locks.
  std::string foreign_text;
};

}  // namespace holdfast
