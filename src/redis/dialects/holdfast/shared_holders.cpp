#include "redis/dialects/holdfast/shared_holders.hpp"

#include <algorithm>
#include <charconv>

#include "redis/dialects/holdfast/layout.hpp"

namespace holdfast::dialects {
namespace {

// The number at the beginning of `text`, which is taken away.
std::optional<std::uint64_t> take_number(std::string_view& text, std::uint64_t largest) noexcept {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc{} || number > largest) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char expected) noexcept {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::optional<share> take_share(std::string_view& text) noexcept {
  constexpr std::string_view modes = "ncdrpxus";
  if (text.empty() || modes.find(text.front()) == modes.npos) return std::nullopt;
  auto rest = text.substr(1);
  const auto weight = take_number(rest, UINT32_MAX);
  if (!weight) return std::nullopt;
  const share got{text.front(), static_cast<std::uint32_t>(*weight)};
  text = rest;
  return got;
}

std::optional<shared_holder> read_holder(std::string_view request, std::string_view entry) {
  const auto has = take_share(entry);
  if (!has || !take(entry, ':')) return std::nullopt;
  const auto major = take_number(entry, largest_major);
  if (!major || !take(entry, ':')) return std::nullopt;
  const auto until_ms = take_number(entry, largest_major / 1000);
  if (!until_ms || !(entry.empty() || entry.starts_with(':'))) return std::nullopt;
  owner_parts owner = parse_owner(request);
  return shared_holder{.has = *has,
                       .major = *major,
                       .client = std::move(owner.client),
                       .owner = std::move(owner.shortened),
                       .until = server_time(milliseconds(static_cast<std::int64_t>(*until_ms)))};
}

std::vector<shared_holder> read_holders(const resp::value& fields) {
  std::vector<shared_holder> all;
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const std::string_view request = fields.items[i].text;
    if (request.empty() || request == "=") continue;
    if (auto one = read_holder(request, fields.items[i + 1].text)) all.push_back(*std::move(one));
  }
  std::ranges::sort(all, {}, &shared_holder::major);
  return all;
}

char family_of(std::string_view summary) noexcept {
  if (!take(summary, '1') || summary.size() < 2 || summary[1] != ':') return 0;
  return summary[0] == 'm' || summary[0] == 's' ? summary[0] : '\0';
}

}  // namespace holdfast::dialects
