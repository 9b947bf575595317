#include "support/test_outcome.hpp"

#include <gtest/gtest.h>

namespace holdfast::support {

bool test_has_failed() { return ::testing::Test::HasFailure(); }

void fail_test(const std::string& why) { ADD_FAILURE() << why; }

}  // namespace holdfast::support
