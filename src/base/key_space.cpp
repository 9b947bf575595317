#include "base/key_space.hpp"

#include <algorithm>

#include <holdfast/errc.hpp>

#include "base/printable.hpp"

namespace holdfast {
namespace {

constexpr std::size_t longest_tenant = 64;
constexpr std::string_view before_tenant = "hf:@";

// Not std::isalnum, which knows more letters in some locales.
bool may_stand_in_tenant(char c) noexcept {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

std::string prefix_of(std::string_view tenant) {
  if (tenant.empty()) return std::string{key_space::without_tenant};
  if (!key_space::may_be_tenant(tenant)) {
    throw failure{errc::invalid_argument,
                  "the tenant '" + printable(tenant) +
                      "' must be 1 to 64 letters (a to z, A to Z), digits, '.', '_' and '-'"};
  }
  return std::string{before_tenant}.append(tenant).append(":");
}

}  // namespace

bool key_space::may_be_tenant(std::string_view name) noexcept {
  return !name.empty() && name.size() <= longest_tenant &&
         std::ranges::all_of(name, may_stand_in_tenant);
}

key_space::key_space(std::string_view tenant) : prefix_(prefix_of(tenant)) {}

std::string_view key_space::tenant() const noexcept {
  if (!is_of_tenant()) return {};
  const std::string_view all = prefix_;
  return all.substr(before_tenant.size(), all.size() - before_tenant.size() - 1);
}

}  // namespace holdfast
