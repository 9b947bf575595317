// The native mutex, with and without fencing tokens. Layout and scripts: docs/wire/holdfast.md.
#pragma once

#include <holdfast/options.hpp>

#include "redis/dialects/holdfast/native_recipe.hpp"

namespace holdfast::dialects {

class mutex_recipe final : public native_recipe {
 public:
  explicit mutex_recipe(fencing how) noexcept : fenced_(how == fencing::on) {}
  family queue_family() const noexcept override { return family::mutex; }

  // Without tokens the first attempt is a plain SET NX PX. It carries no not-after, and it cannot
  // tell a foreign key or the remaining time from "busy"; every later one is the script, which can.
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  acquire_verdict read_acquire(const claim&, const resp::value&) const override;

  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;

  void write_release(const claim&, resp::writer&) const override;
  void write_lone_release(const claim&, resp::writer&) const override;
  void write_withdraw(const claim&, resp::writer&) const override;

 private:
  bool fenced_;
};

// Locks with tokens, all at once; they are granted with one major. Answered as write_acquire for
// one that does not wait and as write_release: by one answer for all, or by one for each.
void write_acquire_all(std::span<const claim* const>, server_time not_after, resp::writer&);
void write_release_all(std::span<const claim* const>, resp::writer&);

}  // namespace holdfast::dialects
