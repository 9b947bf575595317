/// \file
/// Who is behind a lock.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast {

/// Who holds a lock, as far as the holder's entry in the client registry tells.
struct holder {
  std::string id;    ///< The request id, shortened: enough to tell holders apart.
  std::string host;  ///< Empty when the registry entry is gone (a foreign or dead client).
  std::int64_t pid = 0;
  std::string program;
  std::string version;  ///< The holder's Holdfast version.
};

}  // namespace holdfast
