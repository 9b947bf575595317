// How the names of all keys and channels of a client begin: `hf:`, or `hf:@NAME:` of a tenant. So
// the rights of a server's users can part tenants (docs/decisions/0019-tenants.md).
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// Immutable after construction. Every key and channel of Holdfast's own is named through one, or
// through the lock_key that was made from it.
class key_space {
 public:
  // 1 to 64 letters, digits, `.`, `_` and `-`: nothing that means more in a key, in a pattern or in
  // a line of rights.
  static bool may_be_tenant(std::string_view name) noexcept;

  // Of clients without a tenant.
  key_space() : key_space(std::string_view{}) {}
  // Empty: without one. Throws failure{errc::invalid_argument} unless it may be a tenant.
  explicit key_space(std::string_view tenant);

  bool is_of_tenant() const noexcept { return prefix_.size() > without_tenant.size(); }
  std::string_view tenant() const noexcept;

  const std::string& prefix() const noexcept { return prefix_; }
  // The key or channel that is called `rest` behind the prefix.
  std::string named(std::string_view rest) const { return prefix_ + std::string{rest}; }

  static constexpr std::string_view without_tenant = "hf:";

 private:
  std::string prefix_;
};

}  // namespace holdfast
