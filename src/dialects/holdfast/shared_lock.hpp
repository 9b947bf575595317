// A lock that several may hold together: in modes that go together, or so many permits of it.
// Layout and scripts: docs/wire/holdfast.md.
#pragma once

#include <string_view>

#include "dialects/holdfast/native_recipe.hpp"

namespace holdfast::dialects {

class shared_recipe final : public native_recipe {
 public:
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_renew(std::span<const claim* const>, server_time not_after,
                   resp::writer&) const override;
  void write_release(const claim&, resp::writer&) const override;
  void write_withdraw(const claim&, resp::writer&) const override;
};

// The number of permits, for all who use the semaphore from now on; 0: each says it himself. The
// answer is read by read_release.
void write_set_permits(const lock_key&, std::uint32_t permits, resp::writer&);

}  // namespace holdfast::dialects
