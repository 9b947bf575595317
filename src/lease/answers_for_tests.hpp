// For the unit tests of this room: a server's answers, each as a word and a number.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include <holdfast/errc.hpp>

#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::leasing {

inline constexpr substrate::token_major usual_major = 7;
inline constexpr std::uint64_t usual_ticket = 70;

inline std::optional<substrate::refused> refusal(std::string_view word, errc code) {
  const bool divided = word == "divided";
  const bool passing = divided || word == "passing";
  if (!passing && word != "refused") return std::nullopt;
  return substrate::refused{code, passing, "the server said so", divided};
}

// To an acquire: say("busy for", 250).
inline substrate::acquire_verdict say(std::string_view word, std::int64_t number = 0) {
  const milliseconds time{number};
  if (word == "granted") return substrate::granted{usual_major, time};
  if (word == "busy") return substrate::busy{};
  if (word == "busy for") return substrate::busy{time};
  if (word == "more") return substrate::unfinished{};
  if (word == "late") return substrate::late{server_time(microseconds(number))};
  return refusal(word, static_cast<errc>(number)).value();
}
inline substrate::acquire_verdict say(std::string_view word, errc code) {
  return refusal(word, code).value();
}
inline substrate::acquire_verdict say_granted(milliseconds ttl, substrate::token_major major) {
  return substrate::granted{major, ttl};
}
inline substrate::acquire_verdict say_queued(std::uint64_t place, milliseconds remaining,
                                             bool is_new = false) {
  return substrate::queued{place, remaining, usual_ticket, server_time{std::chrono::hours(400'000)},
                           is_new};
}

// To a release or a withdraw.
inline substrate::release_verdict say_back(std::string_view word, errc code = {}) {
  if (word == "released") return substrate::released{};
  if (word == "more") return substrate::unfinished{};
  if (word == "not mine") return substrate::not_mine{};
  if (word == "not undone") return substrate::not_undone{};
  return refusal(word, code).value();
}

inline substrate::claim test_claim(milliseconds lease = milliseconds(10'000)) {
  return {.key = nullptr,
          .owner = request_id(client_id({1, 2, 3}), 1),
          .lease = lease,
          .floor = 0,
          .granted = 0};
}

// As above, for a machine: it lives as long as the test program.
inline substrate::claim& new_claim(const substrate::claim& like = test_claim()) {
  static std::deque<substrate::claim> all;
  return all.emplace_back(like);
}

// Time zero of the tests on both lines.
inline constexpr monotonic_time local_start{std::chrono::hours(1)};
inline constexpr server_time server_start{std::chrono::hours(400'000)};

}  // namespace holdfast::leasing
