// The identity of a holder in this process: a thread, or an owner that the user names.
#pragma once

#include <cstdint>

namespace holdfast {

// Never drawn twice in a process, unlike the addresses and numbers of threads. 0: nobody.
using identity = std::uint64_t;

identity new_identity() noexcept;

// Draws it at the first call of each thread; afterwards it costs one read.
identity this_thread() noexcept;

}  // namespace holdfast
