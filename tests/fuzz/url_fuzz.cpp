// Any text is either an address or refused with a reason.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redis/connection/url.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = holdfast::redis::parse_url({reinterpret_cast<const char*>(data), size});
  if (!parsed && parsed.error().what()[0] == '\0') __builtin_trap();
  return 0;
}
