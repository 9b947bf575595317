// What the tests of the layouts of other libraries share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "redis/dialects/foreign_recipe.hpp"
#include "scripts/script_client.hpp"

namespace holdfast::dialects {

// Another owner, as Redisson names one.
inline const std::string theirs_is = "0f0e0d0c-0b0a-0908-0706-050403020100:77";

// `Recipe` on a real server; `own` is what its owners write.
template <typename Recipe>
class foreign_test : public scripts_test {
 protected:
  void SetUp() override {
    scripts_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    theirs_.emplace(server(), recipe_);
  }
  explicit foreign_test(Recipe recipe) : recipe_(std::move(recipe)) {}

  script_client& theirs() { return *theirs_; }
  const Recipe& layout() const { return recipe_; }
  resp::value command(const std::vector<std::string>& words) { return redis().command(words); }
  foreign_verdict look() {
    return recipe_.read_inspect(
        theirs().ask([&](auto& out) { recipe_.write_inspect(key.name(), out); }));
  }
  // Who has it, if it is one.
  foreign_holder holder() {
    const auto verdict = look();
    const auto* const all = std::get_if<foreign_holders>(&verdict);
    EXPECT_TRUE(all != nullptr && all->size() == 1);
    return all != nullptr && all->size() == 1 ? all->front() : foreign_holder{};
  }
  milliseconds remaining_of(const acquire_verdict& verdict) {
    EXPECT_TRUE(std::holds_alternative<busy>(verdict)) << redis().why(verdict);
    const auto* const held = std::get_if<busy>(&verdict);
    return held != nullptr ? held->remaining.value_or(milliseconds{-1}) : milliseconds{-2};
  }
  void expect_nothing_done_by(const claim& stranger) {
    const auto before = redis().contents();
    EXPECT_EQ(theirs().renew(stranger), renew_verdict(not_mine{}));
    EXPECT_EQ(theirs().release(stranger), release_verdict(not_mine{}));
    EXPECT_EQ(theirs().withdraw(stranger), release_verdict(not_mine{}));
    EXPECT_EQ(redis().contents(), before);
  }
  void expect_ttl(const std::string& of, milliseconds wanted) {
    EXPECT_GT(redis().pttl(of), wanted.count() - 5'000);
    EXPECT_LE(redis().pttl(of), wanted.count());
  }

 private:
  const Recipe recipe_;
  std::optional<script_client> theirs_;
};

}  // namespace holdfast::dialects
