// Redisson's RReadWriteLock: a hash with a mode, its readers or its writer, and a key beside it for
// each hold of a reader: docs/wire/redisson.md.
#pragma once

#include <string>

#include "dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

class read_write_recipe final : public foreign_recipe {
 public:
  read_write_recipe() noexcept;

  std::string key_of(std::string_view name) const override { return std::string(name); }
  std::string channel_of(std::string_view name) const override;

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  std::string owner_of(const claim&) const override;
};

}  // namespace holdfast::dialects
