// Who holds something in this process: a thread, or whoever the user says.
#pragma once

#include <cstdint>

namespace holdfast {

// Never drawn twice in a process, unlike the addresses and numbers of threads. 0: nobody.
using identity = std::uint64_t;

identity new_identity() noexcept;

// Draws it at the first call of each thread; afterwards it costs one read.
identity this_thread() noexcept;

}  // namespace holdfast
