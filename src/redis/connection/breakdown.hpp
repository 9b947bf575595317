// Why a connection could not be made, or broke.
#pragma once

#include <new>
#include <optional>
#include <string>

#include <holdfast/errc.hpp>

#include "net/socket.hpp"

namespace holdfast::redis {

struct breakdown {
  errc code = errc::unavailable;
  std::string detail;
  bool reached = true;  // false: no connection could be made at all
  // There somebody hung up at what is not TLS: it may be what is spoken there.
  std::optional<net::endpoint> may_speak_tls{};

  // Asking again is pointless until somebody changes the configuration.
  bool is_permanent() const noexcept {
    return code == errc::authentication || code == errc::permission_denied ||
           code == errc::not_redis || code == errc::untrusted_server;
  }
};

// Without its text, where there is no memory for that.
inline breakdown copy(const breakdown& why) noexcept {
  try {
    return why;
  } catch (const std::bad_alloc&) {
    return {.code = why.code, .detail = {}, .reached = why.reached};
  }
}

}  // namespace holdfast::redis
