// A lock that several may hold together: in modes that go together, or so many permits of it.
// Layout and scripts: docs/wire/holdfast.md.
#pragma once

#include <string_view>
#include <variant>

#include "redis/dialects/holdfast/native_recipe.hpp"

namespace holdfast::dialects {

class shared_recipe final : public native_recipe {
 public:
  family queue_family() const noexcept override { return family::several; }
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  void write_lone_release(const claim&, resp::writer&) const override;
  void write_withdraw(const claim&, resp::writer&) const override;
  release_verdict read_release(const resp::value&) const override;
};

// The number of permits, for all who use the semaphore from now on; 0: each names its own. The
// server refuses it as a break (write_break).
void write_set_permits(const lock_key&, std::uint32_t permits, server_time not_after,
                       resp::writer&);

// The number is set. False: ask again, not all who may come in now are in.
std::variant<bool, refused> read_permits_set(const lock_key&, const resp::value&);

}  // namespace holdfast::dialects
