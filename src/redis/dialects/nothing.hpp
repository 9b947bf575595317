// A command in the place of one that is not to be sent any more: every request must write one. Each
// user of a client may ask for the time; a refused command would stand in the server's ACL log.
#pragma once

#include "redis/resp/writer.hpp"

namespace holdfast::dialects {

inline void write_nothing(resp::writer& out) {
  out.command(1);
  out.arg("TIME");
}

}  // namespace holdfast::dialects
