// Where the examples find a server: the first argument, HOLDFAST_URL, or a private one.
#pragma once

#include <cstdlib>

inline const char* server_url(int argc, char** argv) {
  if (argc > 1) return argv[1];
  const char* const set = std::getenv("HOLDFAST_URL");
  return set != nullptr && *set != '\0' ? set : "embedded:";
}
