// A command in the place of one that is not to be sent any more: every request must write one.
#pragma once

#include "resp/writer.hpp"

namespace holdfast::runtime {

inline void write_nothing(resp::writer& out) {
  out.command(1);
  out.arg("PING");
}

}  // namespace holdfast::runtime
