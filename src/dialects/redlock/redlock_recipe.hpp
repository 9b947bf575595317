// A lock of redsync or node-redlock, as one server keeps it: one text at one key, or at several
// that are locked together. docs/wire/redlock.md.
#pragma once

#include <string>
#include <vector>

#include <holdfast/dialect.hpp>

#include "dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

// What an attempt writes, the same at all servers.
std::string redlock_value(redlock_library, const request_id& owner);

class redlock_recipe final : public foreign_recipe {
 public:
  // `further`: resources, none of them twice.
  redlock_recipe(habits usual, redlock_library library, std::vector<std::string> further = {});

  std::string key_of(std::string_view name) const override { return std::string(name); }

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim& c) const override;
  std::size_t keys_of(const claim& c) const;
  void write_keys(const claim& c, resp::writer& out) const;

  const redlock_library library_;
  const std::vector<std::string> further_;
};

}  // namespace holdfast::dialects
