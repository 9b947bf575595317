// The library at the end of a process.
#include "faults/faulty_server.hpp"
#include "support/child_process.hpp"

namespace holdfast::faults {
namespace {

class Exit : public fault_test {};
HOLDFAST_ON_EACH_SERVER(Exit);

TEST_P(Exit, AStaticDestructorOfTheUsersMayUseEverything) {
  const private_server server{{.program = GetParam()}};
  const auto done = support::run({.program = HOLDFAST_USER_AT_EXIT, .arguments = {server.url()}});
  EXPECT_EQ(done.how, support::ending{}) << done.errors;
  EXPECT_EQ(done.output, "all again\n") << done.errors;
}

}  // namespace
}  // namespace holdfast::faults
