// A host name that leads where the test says, in this process alone.
#pragma once

#include <string>
#include <vector>

namespace holdfast::faults {

// The name that getaddrinfo() knows in a program that has moving_name.cpp.
inline constexpr const char* moving_name = "locks.moving-name.test";

// From now on it has these addresses ("127.0.0.2"), in this order. Any thread.
void lead_to(std::vector<std::string> addresses);

}  // namespace holdfast::faults
