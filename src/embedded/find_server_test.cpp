#include "embedded/find_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class FindServer : public ::testing::Test {
 protected:
  fs::path install(const std::string& folder, const std::string& name,
                   fs::perms mode = fs::perms::owner_all) const {
    fs::create_directory(root_.path() / folder);
    auto file = root_.path() / folder / name;
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, mode);
    return file;
  }

  fs::path find(const fs::path& wanted = {}) const {
    return find_server(wanted, {root_.path() / "first", root_.path() / "second"});
  }

  std::string refusal(const fs::path& wanted = {}) const {
    try {
      return "found " + find(wanted).string();
    } catch (const failure& error) {
      EXPECT_EQ(error.reason(), errc::embedded_server);
      return error.what();
    }
  }

  private_directory root_;
};

TEST_F(FindServer, TakesWhicheverIsInstalled) {
  const auto valkey = install("first", "valkey-server");
  EXPECT_EQ(find(), valkey);
  const auto redis = install("second", "redis-server");
  EXPECT_EQ(find(), redis);
}

TEST_F(FindServer, PrefersTheFirstFolder) {
  install("second", "redis-server");
  const auto first = install("first", "redis-server");
  EXPECT_EQ(find(), first);
}

TEST_F(FindServer, LooksForANamedProgram) {
  install("first", "redis-server");
  const auto valkey = install("second", "valkey-server");
  EXPECT_EQ(find("valkey-server"), valkey);
  EXPECT_EQ(find(valkey), valkey);
}

TEST_F(FindServer, PassesOverWhatIsNoProgram) {
  install("first", "redis-server", fs::perms::owner_read);
  fs::create_directories(root_.path() / "first" / "valkey-server");
  const auto valkey = install("second", "valkey-server");
  EXPECT_EQ(find(), valkey);
}

TEST_F(FindServer, NamesThePackagesWhenThereIsNone) {
  EXPECT_THAT(refusal(), AllOf(HasSubstr("no server program was found"), HasSubstr("redis-server"),
                               HasSubstr("valkey-server"), HasSubstr("sudo apt install")));
  EXPECT_THAT(refusal("keydb"), AllOf(HasSubstr("\"keydb\""), HasSubstr("sudo apt install")));
  EXPECT_THAT(refusal("/no/such/file"), HasSubstr("\"/no/such/file\""));
}

TEST_F(FindServer, KnowsWherePackagesPutServers) {
  EXPECT_THAT(program_folders(), Contains(fs::path("/usr/bin")));
  EXPECT_THAT(program_folders(), Contains(fs::path("/usr/sbin")));
}

}  // namespace
}  // namespace holdfast::embedded
