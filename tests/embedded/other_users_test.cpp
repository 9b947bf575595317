// What another user of this machine can do to the directories of embedded servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"
#include "support/forked.hpp"
#include "support/scoped_environment.hpp"

namespace holdfast::embedded {
namespace {

namespace fs = std::filesystem;

void as_another_user(const std::function<void()>& does) {
  support::forked child([&](const support::forked::teller& parent) {
    if (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0) return;
    does();
    parent.tell("done");
  });
  ASSERT_EQ(child.heard(), "done");
}

void open_to_all(const fs::path& directory) { fs::permissions(directory, fs::perms::all); }

std::string refusal_of_a_private_directory() {
  try {
    const private_directory refused;
  } catch (const failure& error) {
    return error.what();
  }
  return "";
}

class OtherUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "Only root can be another user.";
    fs::permissions(outer_.path(), fs::perms(0711));
    fs::create_directory(theirs_);
    ASSERT_EQ(::chown(theirs_.c_str(), 65534, 65534), 0);
    std::ofstream(precious_) << "precious";
  }
  std::string precious() const {
    std::ifstream file(precious_);
    std::string text;
    std::getline(file, text);
    return text;
  }

  private_directory outer_;
  fs::path theirs_ = outer_.path() / "theirs";
  fs::path precious_ = outer_.path() / "precious";
};

// As when a runtime directory came along through su.
TEST_F(OtherUsers, RuntimeDirectoryIsPassedOver) {
  const support::scoped_environment runtime("XDG_RUNTIME_DIR", theirs_.string());
  const support::scoped_environment temporary("TMPDIR", outer_.path().string());
  EXPECT_EQ(private_directory().path().parent_path(), outer_.path());
}

TEST_F(OtherUsers, TemporaryDirectoryIsRefused) {
  const support::scoped_environment runtime("XDG_RUNTIME_DIR", std::nullopt);
  const auto ours = theirs_ / "ours";
  fs::create_directory(ours);
  const auto open = outer_.path() / "open";
  fs::create_directory(open);
  open_to_all(open);
  for (const auto& base : {theirs_, ours, open}) {
    const support::scoped_environment temporary("TMPDIR", base.string());
    EXPECT_THAT(refusal_of_a_private_directory(),
                ::testing::HasSubstr("another user can put something else in the place"))
        << base;
  }
  fs::permissions(open, fs::perms::all | fs::perms::sticky_bit);
  const support::scoped_environment temporary("TMPDIR", open.string());
  EXPECT_EQ(refusal_of_a_private_directory(), "") << "as /tmp is";
}

// The rest is looked up in what was opened, though its path means something else by now.
TEST_F(OtherUsers, CannotExchangeADirectoryThatIsOpen) {
  const auto named = theirs_ / "shared";
  const auto opened = prepare_shared_directory(named);
  as_another_user([&] {
    fs::rename(named, theirs_ / "away");
    fs::create_directory(named);
    fs::create_symlink(precious_, named / log_name);
  });
  EXPECT_EQ(fs::status(theirs_ / "away").permissions(), fs::perms::owner_all);
  std::ofstream(opened->by_descriptor(log_name)) << "log";
  EXPECT_EQ(precious(), "precious");
  EXPECT_TRUE(fs::exists(theirs_ / "away" / log_name));
}

TEST_F(OtherUsers, CannotLeadElsewhereByALinkBehindASlash) {
  fs::create_directory(outer_.path() / "empty");
  fs::permissions(outer_.path() / "empty", fs::perms::owner_all);
  as_another_user([&] { fs::create_symlink(outer_.path() / "empty", theirs_ / "link"); });
  for (const char* tail : {"", "/", "//"}) {
    try {
      prepare_shared_directory((theirs_ / "link").string() + tail);
      FAIL() << tail;
    } catch (const failure& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("is not a directory"));
    }
  }
}

}  // namespace
}  // namespace holdfast::embedded
