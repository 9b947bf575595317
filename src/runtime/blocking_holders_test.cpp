#include "runtime/blocking_holders.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::runtime {
namespace {

class fake_holding final : public holding {
 public:
  const std::string& name() const noexcept override { return name_; }
  bool held() const noexcept override { return is_held; }
  lease_mode mode() const noexcept override { return lease_mode::exclusive; }
  nanoseconds remaining() const noexcept override { return {}; }
  std::stop_token lost() override { return {}; }
  result<void> extend(milliseconds) override { return {}; }
  bool set_note(std::string_view) noexcept override { return false; }
  bool give_back(const listener&) override { return false; }
  result<void> take_released() override { return {}; }
  result<void> give_back_and_wait() override { return {}; }

  bool is_held = true;

 private:
  const std::string name_ = "a";
};

TEST(BlockingHolders, KnowWhoHasIt) {
  constexpr identity me = 1;
  constexpr identity other = 2;
  blocking_holders all;
  EXPECT_FALSE(all.has(me));
  auto mine = std::make_shared<fake_holding>();
  all.add(me, mine);
  EXPECT_TRUE(all.has(me));
  EXPECT_FALSE(all.has(other));
  mine->is_held = false;
  EXPECT_FALSE(all.has(me));
  mine->is_held = true;
  mine.reset();
  EXPECT_FALSE(all.has(me));
}

TEST(BlockingHolders, AreForgottenAlthoughNobodyLooks) {
  blocking_holders all;
  for (int i = 0; i < 1000; ++i) all.add(1, std::make_shared<fake_holding>());
  EXPECT_EQ(all.size(), 1U);
}

}  // namespace
}  // namespace holdfast::runtime
