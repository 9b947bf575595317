// A lock of redsync or node-redlock, as one server keeps it: one text at one key, or at several
// that are locked together. docs/wire/redlock.md.
#pragma once

#include <string>
#include <vector>

#include <holdfast/dialect.hpp>

#include "redis/dialects/redlock/several_keys_recipe.hpp"

namespace holdfast::dialects {

// The text that an attempt writes, the same at all servers.
std::string redlock_value(redlock_library, const request_id& owner);

class redlock_recipe final : public several_keys_recipe {
 public:
  // `further`: resources, none of them twice.
  redlock_recipe(habits usual, redlock_library library, std::vector<std::string> further = {});

  std::string key_of(std::string_view name) const override { return std::string(name); }
  bool keeps_one_slot(std::string_view) const override { return further_.empty(); }
  std::vector<std::string> all_keys_of(std::string_view name) const override;

 private:
  std::string owner_of(const claim& c) const override;
  std::size_t keys_of(const claim& c) const override;
  void write_keys(const claim& c, resp::writer& out) const override;
  std::size_t needed_of(const claim& c) const override { return keys_of(c); }
  const resp::script& acquisition() const noexcept override;

  const redlock_library library_;
  const std::vector<std::string> further_;
};

}  // namespace holdfast::dialects
