// What many threads ask at once is under way at once.
#include <thread>
#include <vector>

#include "conformance/conformance.hpp"
#include "support/fake_server.hpp"

namespace holdfast::conformance {
namespace {

using support::fake_server;

// Says nothing until each of them has asked.
TEST(Pipelining, NobodyWaitsForTheAnswerOfAnother) {
  constexpr std::size_t threads = 64;
  std::size_t unanswered = 0, asked = 0;  // on the server's thread
  const fake_server server(
      [&](const fake_server::command& command) -> std::optional<fake_server::reply> {
        const bool talks = command.at(0) == "EVALSHA" || command.at(0) == "EVAL";
        if (!talks && unanswered == 0) return std::nullopt;  // the log-in
        ++unanswered;
        if (command.size() > 3 && command[3].starts_with("hf:{lock ")) ++asked;
        std::string answers;
        for (; asked >= threads && unanswered > 0; --unanswered) answers += "-OOM none left\r\n";
        return fake_server::answer(answers);
      });
  client_options patient;
  patient.response_timeout = generous;
  const client redis{server.url(), patient};
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      expect_reason(redis.mutex("lock " + std::to_string(i)).try_acquire(), errc::out_of_memory);
    });
  }
  for (auto& one : all) one.join();
  EXPECT_EQ(server.connections(), 1U);
}

}  // namespace
}  // namespace holdfast::conformance
