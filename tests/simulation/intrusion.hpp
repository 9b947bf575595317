// Somebody takes a lock's name for that of a lock, latch or barrier of another kind. One name is
// one kind's as long as anybody holds it or waits for it (docs/kinds.md): they are refused then,
// and nothing of what they ask changes anything.
#pragma once

#include <string>
#include <string_view>

#include "base/request_id.hpp"
#include "simulation/kind.hpp"

namespace holdfast::simulation {

class intrusion {
 public:
  // Draws as what they take the name, and whether they wait for it.
  intrusion(dice& from, const kind& of, const lock_key& key, std::uint64_t number);

  // Their first request, and their last one, perhaps once more.
  std::string enters() const;
  std::string leaves(std::uint64_t time) const;
  // Takes the places of all strangers out of the queue: of what was forgotten they cannot leave.
  static std::string clears(const lock_key& key);
  // Whether this answer to the first lets them have the name, or wait for it.
  bool came_in(const resp::value& answer) const;
  static bool is_by_a_stranger(std::string_view request);

 private:
  enum class stranger : std::uint8_t { latch, open_latch, mutex, modes, permits, barrier };
  static stranger draw(dice& from, const kind& of);

  const lock_key& key_;
  stranger as_;
  substrate::demand wants_{};
  client_id client_;
  substrate::claim claim_;
};

}  // namespace holdfast::simulation
