#include "redis/connection/password_file.hpp"

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

TEST_F(PasswordFile, IsNotReadToTheEndWhereItHasNoLines) {
  EXPECT_EQ(read(std::string(100'000, 'x')), std::nullopt);
}

TEST_F(PasswordFile, IsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(first_line(path_), std::nullopt);
}

TEST_F(PasswordFile, IsNotReadWhereOthersCanWriteIt) {
  ASSERT_EQ(read("hunter2"), "hunter2");
  credentials login;
  login.password_file = path_;
  for (const ::mode_t mode : {0660U, 0602U, 0666U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(first_line(path_), std::nullopt);
    const auto why = read_password(login);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code, errc::authentication);
    EXPECT_NE(why->detail.find("can be written by other users"), std::string::npos) << why->detail;
  }
  for (const ::mode_t mode : {0600U, 0400U, 0640U, 0644U, 0444U}) {
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
    EXPECT_EQ(first_line(path_), "hunter2") << "as mounted secrets are";
  }
  struct stat what {};
  what.st_mode = S_IFREG | 0600;
  what.st_uid = ::geteuid() + 1;
  EXPECT_EQ(why_not_trusted(what), what.st_uid == 0 ? "" : "belongs to another user");
  what.st_uid = 0;
  EXPECT_EQ(why_not_trusted(what), "") << "the administrator's";
}

}  // namespace
}  // namespace holdfast::redis
