// A lock of rueidislock: one text at the majority of an odd number of keys, whose changes the
// server tells to waiters. docs/wire/rueidislock.md.
#pragma once

#include <cstdint>
#include <string>

#include "redis/dialects/redlock/several_keys_recipe.hpp"

namespace holdfast::dialects {

class rueidislock_recipe final : public several_keys_recipe {
 public:
  // `majority` of 2 * majority - 1 keys are the lock.
  rueidislock_recipe(habits usual, std::string prefix, std::uint32_t majority);

  // The first, which its library takes first.
  std::string key_of(std::string_view name) const override { return key_of(name, 0); }
  std::string key_of(std::string_view name, std::size_t at) const;

  // The last without which its library does not have the lock.
  std::string told_at(const claim& waiting) const override {
    return key_of(waiting.key->name(), majority_ - 1);
  }
  bool is_told_by_key() const noexcept override { return true; }
  std::vector<std::string> all_keys_of(std::string_view name) const override {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < 2 * majority_ - 1; ++at) all.push_back(key_of(name, at));
    return all;
  }

 private:
  std::string owner_of(const claim& c) const override;
  std::size_t keys_of(const claim&) const override { return 2 * majority_ - 1; }
  void write_keys(const claim& c, resp::writer& out) const override;
  std::size_t needed_of(const claim&) const override { return majority_; }
  const resp::script& acquisition() const noexcept override;

  const std::string prefix_;
  const std::size_t majority_;
};

}  // namespace holdfast::dialects
