// ShedLock's lock of a job: a text that says when it was acquired and where, and that may stay for
// a while after the job has ended: docs/wire/shedlock.md.
#pragma once

#include <string>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

class shedlock_recipe final : public foreign_recipe {
 public:
  // Keys are `prefix` and the name; owners say that they run on `host`.
  shedlock_recipe(habits usual, std::string prefix, std::string host);

  std::string key_of(std::string_view name) const override { return prefix_ + std::string(name); }
  // Without the uuid.
  std::string_view shown(std::string_view owner) const override;

  std::shared_ptr<const foreign_recipe> kept_for(milliseconds least) const override;

  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  // Nobody has run the job, so nobody need wait until it may run again.
  void write_withdraw(const claim&, resp::writer&) const override;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
  // How the value ends: before it stands when it was acquired, which the server says.
  std::string owner_of(const claim& c) const override;
  void write_release(const claim&, milliseconds least, resp::writer&) const;

  const std::string prefix_;
  const std::string host_;
};

}  // namespace holdfast::dialects
