// The holders of a lock that several can hold, as the fields of its key name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/dialects/recipe.hpp"
#include "substrate/common_mode.hpp"

namespace holdfast::dialects {

// `<mode><weight>`, of a holder or of a waiter.
struct share {
  char mode = 0;             // n c d r p x u, or s: permits. 0: none, as in a mutex
  std::uint32_t weight = 0;  // how many permits; of a mode 1
  friend bool operator==(const share&, const share&) = default;
};
// Reads it at the beginning of `text`, and takes it away; nothing when it is none.
std::optional<share> take_share(std::string_view& text) noexcept;

using substrate::name_of_mode;

struct shared_holder {
  share has;
  token_major major = 0;
  std::string client;  // whose registry entry to read; not shown. Empty: not a Holdfast client
  std::string owner;   // the request id, shortened: for people
  server_time until{};
  friend bool operator==(const shared_holder&, const shared_holder&) = default;
};
std::optional<shared_holder> read_holder(std::string_view request, std::string_view entry);

// All that stand in a reply {field, value, ...}, in the order of their tokens.
std::vector<shared_holder> read_holders(const resp::value&);

// 'm': modes, 's': permits; 0 when `summary` is none of our version.
char family_of(std::string_view summary) noexcept;

}  // namespace holdfast::dialects
