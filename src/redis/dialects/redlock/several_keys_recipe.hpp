// A lock that is the same text at several keys of one server.
#pragma once

#include <cstddef>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

class several_keys_recipe : public foreign_recipe {
 public:
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  bool keeps_one_slot(std::string_view) const override { return false; }

 protected:
  using foreign_recipe::foreign_recipe;

  virtual std::size_t keys_of(const claim&) const = 0;
  virtual void write_keys(const claim&, resp::writer&) const = 0;
  // A client that has this many of them has the lock.
  virtual std::size_t needed_of(const claim&) const = 0;
  // Its arguments are the value, the lease in ms and not-after.
  virtual const resp::script& acquisition() const noexcept = 0;

 private:
  const resp::script& inspection() const noexcept override;
  const resp::script& renewal() const noexcept override;
};

}  // namespace holdfast::dialects
