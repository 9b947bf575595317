// Closing on a thread of its own.
#pragma once

#include <functional>

namespace holdfast::net {

// For what was let go of last by a thread that its closing has to wait for. A process that ends
// normally waits for `body`, though for a few seconds at most.
// Thread safety: from any thread.
void close_aside(std::function<void()> body);

}  // namespace holdfast::net
