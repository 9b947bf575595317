#include "redis/password_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace holdfast::redis {
namespace {

class PasswordFile : public ::testing::Test {
 protected:
  ~PasswordFile() override { std::filesystem::remove(path_); }

  std::optional<std::string> read(const std::string& content) const {
    std::ofstream(path_, std::ios::binary) << content;
    return first_line(path_);
  }

  const std::string path_ = ::testing::TempDir() + "password." + std::to_string(::getpid());
};

TEST_F(PasswordFile, HoldsThePasswordInItsFirstLine) {
  EXPECT_EQ(read("hunter2"), "hunter2");
  EXPECT_EQ(read("hunter2\nmore"), "hunter2");
  EXPECT_EQ(read("hunter2\r\nmore"), "hunter2");
  const std::string lengthy(3000, 'x');
  EXPECT_EQ(read(lengthy + "\n" + lengthy), lengthy);
}

TEST_F(PasswordFile, HoldsNone) {
  EXPECT_EQ(read(""), std::nullopt);
  EXPECT_EQ(read("\nhunter2"), std::nullopt);
  EXPECT_EQ(first_line("/no/such/file"), std::nullopt);
  EXPECT_EQ(first_line("/"), std::nullopt);
}

TEST_F(PasswordFile, IsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(first_line(path_), std::nullopt);
}

}  // namespace
}  // namespace holdfast::redis
