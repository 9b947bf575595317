// The belief of a holder that does not know whether the server has changed its mode.
#include <algorithm>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "faults/faulty_server.hpp"
#include "support/fault_proxy.hpp"
#include "support/thrown_by.hpp"

namespace holdfast::faults {
namespace {

using support::fault_proxy;
using support::thrown_by;
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
  private_server& server() { return *server_; }
  // The holders of the lock named a, at the server.
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

// All keys of a server, as they were: what a replica has that heard nothing later.
class snapshot {
 public:
  explicit snapshot(private_server& of) {
    for (const auto& key : of.command({"KEYS", "*"}).items) {
      const auto left = of.command({"PTTL", key.text}).number;
      keys_.push_back({key.text, of.command({"DUMP", key.text}).text, std::max<long>(left, 0)});
    }
  }
  void restore(private_server& to) const {
    for (const auto& [key, content, left] : keys_) {
      EXPECT_EQ(to.command({"RESTORE", key, std::to_string(left), content}).text, "OK") << key;
    }
  }

 private:
  struct one {
    std::string key, content;
    long left;  // ms; 0: without an end
  };
  std::vector<one> keys_;
};

// The change that was given up still waits there, and is granted when the other holder leaves.
TEST_P(ChangedMode, AChangeThatComesBackWithAnotherServerIsAllowedFor) {
  const client other{proxy().url(), impatient()};
  const auto modes = far().mode_lock("a", {.lease = 60s});
  const auto held = modes.in(lock_mode::concurrent_write).acquire();
  auto beside = other.mode_lock("a", {.lease = 60s}).in(lock_mode::concurrent_write).acquire();
  const auto waiting = [&] { return inspector{near()}.status("a").waiting; };
  std::stop_source enough;
  auto changing = std::async(std::launch::async, [&] {
    return modes.change(held, lock_mode::protected_read)
        .try_acquire({.timeout = support::generous}, enough.get_token())
        .has_value();
  });
  ASSERT_TRUE(eventually([&] { return waiting() == 1; }));
  const snapshot before(server());
  enough.request_stop();
  EXPECT_FALSE(changing.get());
  ASSERT_TRUE(eventually([&] { return waiting() == 0; }));
  EXPECT_TRUE(eventually([&] { return held.mode() == lease_mode::concurrent_write; }));

  proxy().refuse_connections();
  proxy().disconnect(support::cut::close);
  server().restart();
  before.restore(server());
  proxy().accept_connections();
  EXPECT_TRUE(eventually([&] { return held.mode() == lease_mode::concurrent_read; }));
  EXPECT_TRUE(held.held());

  EXPECT_TRUE(beside.release());
  auto reading = near().mode_lock("a").in(lock_mode::protected_read).acquire();
  EXPECT_NE(held.mode(), lease_mode::concurrent_write);
  EXPECT_TRUE(reading.held());
}

errc reason_of_writing(const mode_lock& table, const lease& held) {
  return thrown_by([&] { table.set_value(held, "beside"); }).reason();
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
