#include "embedded/directories.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>

#include <holdfast/errc.hpp>

#include "embedded/log_tail.hpp"
#include "embedded/remove_tree.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;

TEST(PrivateDirectory, IsNewAndOursAlone) {
  const private_directory first;
  const private_directory second;
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(first.path().is_absolute());
  EXPECT_EQ(fs::status(first.path()).permissions(), fs::perms::owner_all);
}

TEST(PrivateDirectory, IsRemovedWithEverythingInIt) {
  std::optional<private_directory> directory(std::in_place);
  const auto path = directory->path();
  fs::create_directories(path / "a" / "b" / "c");
  for (int i = 0; i < 300; ++i) {  // more than one read of the folder
    std::ofstream(path / "a" / ("file with a rather long name " + std::to_string(i))) << i;
  }
  directory.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST(RemoveTree, FollowsNoLinks) {
  const private_directory root;
  const auto kept = root.path() / "kept";
  const auto removed = root.path() / "removed";
  fs::create_directory(kept);
  std::ofstream(kept / "file") << "precious";
  fs::create_directory(removed);
  fs::create_directory_symlink(kept, removed / "link");
  fs::create_directory_symlink(kept, root.path() / "link");
  remove_tree(removed.c_str());
  remove_tree((root.path() / "link").c_str());
  EXPECT_FALSE(fs::exists(removed));
  EXPECT_TRUE(fs::exists(kept / "file"));
}

TEST(RemoveTree, LeavesWhatIsTooDeep) {
  const private_directory root;
  const auto deep = root.path() / "1/2/3/4/5/6/7/8/9";
  fs::create_directories(deep);
  remove_tree((root.path() / "1").c_str());
  EXPECT_TRUE(fs::exists(deep));
  remove_tree((root.path() / "1/2/3").c_str());
  EXPECT_FALSE(fs::exists(root.path() / "1/2/3"));
  remove_tree((root.path() / "no such directory").c_str());
}

TEST(SocketPath, FitsASocketAddress) {
  EXPECT_EQ(socket_in("/run/x"), "/run/x/server.sock");
  const auto longest = "/" + std::string(107 - 13, 'd');
  EXPECT_EQ(socket_in(longest).native().size(), 107U);
  EXPECT_THROW(socket_in(longest + "d"), failure);
}

TEST(LogTail, QuotesTheLastLines) {
  const private_directory root;
  const auto log = root.path() / "log";
  EXPECT_EQ(log_tail(log), "");
  std::ofstream(log) << "0\n1\n2\n\n  \n3\n4\n5\nno\x1b[2Jtrick\n";
  EXPECT_EQ(log_tail(log), R"(; its log ends: "1", "2", "3", "4", "5", "no\x1b[2Jtrick")");
}

}  // namespace
}  // namespace holdfast::embedded
