// What a holder believes while nobody tells it whether the server has changed its mode.
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::toward;

class ChangedMode : public fault_test {
 protected:
  void SetUp() override {
    fault_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    server_.emplace(start());
    proxy_.emplace(net::unix_endpoint{server_->socket()});
    far_.emplace(proxy_->url(), impatient());
    near_.emplace(server_->url());
  }
  const client& far() { return *far_; }
  const client& near() { return *near_; }
  fault_proxy& proxy() { return *proxy_; }
  // What holds the lock named a, at the server.
  std::size_t holding() const { return inspector{*near_}.status("a").holding; }

 private:
  std::optional<private_server> server_;
  std::optional<fault_proxy> proxy_;
  std::optional<client> far_, near_;
};
HOLDFAST_ON_EACH_SERVER(ChangedMode);

// The writer's token must not be good beside a reader, and the writer must learn that it is lost.
TEST_P(ChangedMode, AWriterWhoseDowngradeIsNotAnsweredIsNoWriterBesideAReader) {
  const auto rw = far().read_write_lock("a", {.lease = 3s});
  const auto writer = rw.exclusive().acquire();
  EXPECT_EQ(writer.mode(), lease_mode::exclusive);
  proxy().stall(toward::client);
  std::thread downgrading{
      [&] { EXPECT_FALSE(rw.downgrade(writer).try_acquire({.timeout = 100ms})); }};
  auto reader = near().read_write_lock("a").shared().acquire();
  EXPECT_EQ(reader.mode(), lease_mode::shared);
  EXPECT_NE(writer.mode(), lease_mode::exclusive);
  downgrading.join();
  EXPECT_NE(writer.mode(), lease_mode::exclusive);
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return writer.lost().stop_requested(); }));
  EXPECT_FALSE(writer.held());
  EXPECT_EQ(writer.mode(), lease_mode::none);
  EXPECT_TRUE(eventually([&] { return holding() == 1; })) << "its place is given back";
  EXPECT_TRUE(reader.held());
}

TEST_P(ChangedMode, AWriterWhoseDowngradeIsTakenBackIsAWriterAgain) {
  const auto rw = far().read_write_lock("a", {.lease = 30s});
  auto writer = rw.exclusive().acquire();
  proxy().stall(toward::client);
  std::thread downgrading{
      [&] { EXPECT_FALSE(rw.downgrade(writer).try_acquire({.timeout = 100ms})); }};
  EXPECT_TRUE(eventually([&] { return writer.mode() == lease_mode::shared; }));
  downgrading.join();
  EXPECT_EQ(writer.mode(), lease_mode::shared);
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return writer.mode() == lease_mode::exclusive; }));
  EXPECT_TRUE(writer.held());
  EXPECT_FALSE(near().read_write_lock("a").shared().try_acquire());
  EXPECT_TRUE(writer.extend(40s)) << "under the request and token that it had";
  EXPECT_TRUE(writer.release());
}

// A change to what is stronger takes nothing from what is believed.
TEST_P(ChangedMode, AnUpgradeThatIsNotAnsweredLeavesAReader) {
  const auto rw = far().read_write_lock("a", {.lease = 30s});
  auto held = rw.upgradeable().acquire();
  proxy().stall(toward::client);
  EXPECT_FALSE(rw.upgrade(held).try_acquire({.timeout = 100ms}));
  EXPECT_EQ(held.mode(), lease_mode::upgradeable);
  proxy().heal();
  EXPECT_TRUE(
      eventually([&] { return near().read_write_lock("a").shared().try_acquire().has_value(); }));
  EXPECT_TRUE(held.release());
}

// Of two modes of which neither is the stronger it can count on neither.
TEST_P(ChangedMode, BetweenTwoModesOnlyWhatBothKeepOutIsBelieved) {
  const auto modes = far().mode_lock("a", {.lease = 30s});
  const auto held = modes.in(lock_mode::protected_read).acquire();
  EXPECT_EQ(held.mode(), lease_mode::shared);
  proxy().stall(toward::client);
  EXPECT_FALSE(modes.change(held, lock_mode::concurrent_write).try_acquire({.timeout = 100ms}));
  EXPECT_EQ(held.mode(), lease_mode::concurrent_read);
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return held.mode() == lease_mode::shared; }));
}

errc reason_of_writing(const mode_lock& table, const lease& held) {
  try {
    table.set_value(held, "beside");
  } catch (const failure& why) {
    return why.reason();
  }
  ADD_FAILURE() << "it was told that it has written";
  return errc{};
}

// A writer that may have become a reader writes beside no other reader, and is told why.
TEST_P(ChangedMode, AWriterWhoseChangeIsNotAnsweredWritesNoValue) {
  const auto far_side = far().mode_lock("a", {.lease = 30s});
  const auto near_side = near().mode_lock("a", {.lease = 30s});
  const auto writer = far_side.in(lock_mode::exclusive).acquire();
  far_side.set_value(writer, "written alone");
  auto reader = std::async(std::launch::async,
                           [&] { return near_side.in(lock_mode::protected_read).acquire(); });
  ASSERT_TRUE(eventually([&] { return inspector{near()}.status("a").waiting == 1; }));
  proxy().stall(toward::client);
  EXPECT_FALSE(far_side.change(writer, lock_mode::protected_read).try_acquire({.timeout = 100ms}));
  const auto reads = reader.get();
  EXPECT_EQ(reason_of_writing(far_side, writer), errc::invalid_argument);
  EXPECT_EQ(near_side.value(reads), "written alone");
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return !writer.held(); })) << "it could not be taken back";
  EXPECT_EQ(reason_of_writing(far_side, writer), errc::lost);
  EXPECT_EQ(near_side.value(reads), "written alone");
  EXPECT_TRUE(reads.held());
  EXPECT_EQ(reads.mode(), lease_mode::shared);
}

// Nobody else has come in, and the change is taken back.
TEST_P(ChangedMode, AWriterWhoseChangeIsTakenBackWritesAgain) {
  const auto table = far().mode_lock("a", {.lease = 30s});
  auto writer = table.in(lock_mode::exclusive).acquire();
  proxy().stall(toward::client);
  EXPECT_FALSE(table.change(writer, lock_mode::protected_read).try_acquire({.timeout = 100ms}));
  EXPECT_EQ(writer.mode(), lease_mode::shared);
  EXPECT_EQ(reason_of_writing(table, writer), errc::invalid_argument);
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return writer.mode() == lease_mode::exclusive; }));
  EXPECT_EQ(table.value(writer), "");
  table.set_value(writer, "afterwards");
  EXPECT_EQ(table.value(writer), "afterwards");
  EXPECT_TRUE(writer.release());
}

// Given up by its holder while nobody knows what it is: nothing comes back.
TEST_P(ChangedMode, WhatIsReleasedDuringAChangeIsNotBroughtBackByIt) {
  const auto rw = far().read_write_lock("a", {.lease = 30s});
  auto writer = std::make_optional(rw.exclusive().acquire());
  proxy().stall(toward::client);
  EXPECT_FALSE(rw.downgrade(*writer).try_acquire({.timeout = 100ms}));
  writer.reset();
  proxy().heal();
  EXPECT_TRUE(eventually([&] { return holding() == 0; })) << "long before its lease ends";
}

}  // namespace
}  // namespace holdfast::faults
