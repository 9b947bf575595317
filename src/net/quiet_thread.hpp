// Starting threads of ours.
#pragma once

#include <functional>
#include <thread>

namespace holdfast::net {

// A thread that runs with all signals blocked, since a handler of the user's must never run on
// ours, and that cannot be cancelled. `name`: at most 15 bytes, for debuggers and `top -H`. Throws
// std::system_error when the system has none left.
std::thread quiet_thread(const char* name, std::function<void()> body);

// Whether the calling thread is one of them, of whatever client. In the child of a fork the thread
// that forked is none.
bool is_quiet_thread() noexcept;

}  // namespace holdfast::net
