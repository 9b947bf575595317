#include "cli/http/allowed_hosts.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace holdfast::cli::http {
namespace {

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_address(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(family, text.c_str(), ignored.data()) == 1;
}

bool is_port(std::string_view text) {
  return text.size() <= 5 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

allowed_hosts::allowed_hosts(std::vector<std::string> names) : names_(std::move(names)) {
  names_.emplace_back("localhost");
  for (auto& name : names_) {
    const auto colon = name.find(':');
    if (colon != name.npos && is_port(name.substr(colon + 1))) name.erase(colon);
    name = in_small_letters(name);
  }
}

bool allowed_hosts::includes(std::string_view host) const {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == host.npos) return false;
    const auto rest = host.substr(end + 1);
    const bool has_port = rest.empty() || (rest.starts_with(':') && is_port(rest.substr(1)));
    return has_port && is_address(AF_INET6, std::string(host.substr(1, end - 1)));
  }
  const auto colon = host.find(':');
  if (colon != host.npos && !is_port(host.substr(colon + 1))) return false;
  const auto name = in_small_letters(host.substr(0, colon));
  return is_address(AF_INET, name) || std::ranges::find(names_, name) != names_.end();
}

}  // namespace holdfast::cli::http
