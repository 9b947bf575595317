// A sentinel that answers as a test wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "support/fake_server.hpp"

namespace holdfast::faults {

inline support::fake_server::reply named(std::uint16_t port) {
  return support::fake_server::answer("*2\r\n+127.0.0.1\r\n+" + std::to_string(port) + "\r\n");
}

// Clients that are connected to it hear of failovers.
inline std::optional<support::fake_server::reply> subscribed(
    const support::fake_server::command& words) {
  if (words.front() != "SUBSCRIBE") return std::nullopt;
  return support::fake_server::answer(">3\r\n+subscribe\r\n+x\r\n:1\r\n");
}

// Where the master is. It is asked besides how new that is.
inline bool asks_for_master(const support::fake_server::command& words) {
  return words.size() == 3 && words[0] == "SENTINEL" && words[1] == "GET-MASTER-ADDR-BY-NAME";
}

// As one that has heard of so many failovers, or as one whose user may not ask how many.
inline support::fake_server::script naming(std::uint16_t port, std::optional<int> failovers = {}) {
  return [=](const auto& words) -> std::optional<support::fake_server::reply> {
    if (asks_for_master(words)) return named(port);
    if (words.front() != "SENTINEL") return subscribed(words);
    if (!failovers) return support::fake_server::error("NOPERM this user has no permissions");
    return support::fake_server::answer("*2\r\n+config-epoch\r\n+" + std::to_string(*failovers) +
                                        "\r\n");
  };
}

}  // namespace holdfast::faults
