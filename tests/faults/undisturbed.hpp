// Shared by tests in which clients work on while their means to connect are changed.
#pragma once

#include <filesystem>
#include <fstream>

#include "faults/faulty_server.hpp"
#include "faults/runs/contended_run.hpp"

namespace holdfast::faults {

// In one step, as an operator should: nobody reads half of it.
inline void replace_file(const std::string& file, const std::string& content) {
  std::ofstream(file + ".new") << content;
  std::filesystem::rename(file + ".new", file);
}

// They take locks, now.
inline void expect_work_at(const private_server& server) {
  const auto before = server.calls("evalsha");
  EXPECT_TRUE(eventually([&] { return server.calls("evalsha") > before + 30; }));
}

// Two parties take locks while `meanwhile` is done, which takes about `length`: nobody is stopped,
// and nothing is lost. `program`: of what the locks protect.
template <typename Connect>
void expect_undisturbed(const std::string& program, const Connect& connect, milliseconds length,
                        const std::function<void()>& meanwhile) {
  constexpr milliseconds lease_time{3000};
  const auto locks = [&] {
    const client redis = connect();
    return mutexes(
        redis, {{"usual", {.lease = lease_time}}, {"fair", {.lease = lease_time, .fair = true}}});
  };
  const client outside = connect();
  const auto held = outside.mutex("held", {.lease = lease_time}).acquire();
  contended_run run(program);
  run.play({locks(), locks()}, length, meanwhile);
  EXPECT_EQ(run.violations(), "");
  EXPECT_EQ(run.count(history::kind::lost), 0U);
  EXPECT_GT(run.count(history::kind::won), 0U);
  EXPECT_TRUE(held.held());
  ::testing::Test::RecordProperty("won", std::to_string(run.count(history::kind::won)));
}

}  // namespace holdfast::faults
