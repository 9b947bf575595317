// A host name that leads where the test says, in this process alone.
#pragma once

#include <string>
#include <vector>

namespace holdfast::faults {

// The name that getaddrinfo() knows in a program that has moving_name.cpp.
inline constexpr const char* moving_name = "locks.moving-name.test";

// From now on it has these addresses ("127.0.0.2"), in this order. Any thread.
void lead_to(std::vector<std::string> addresses);

// A name whose look-ups do not end before let_hanging_look_ups_go(), and how many there were. Then
// it is unknown.
inline constexpr const char* hanging_name = "hangs.moving-name.test";
int hanging_look_ups();
void let_hanging_look_ups_go();

}  // namespace holdfast::faults
