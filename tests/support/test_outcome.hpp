// What servers need to know of the test that they are for. The measurements start them too, and are
// no test.
#pragma once

#include <string>

namespace holdfast::support {

// Whether the test has failed, so that logs are wanted.
bool test_has_failed();

// Fails it, and goes on.
void fail_test(const std::string& why);

}  // namespace holdfast::support
