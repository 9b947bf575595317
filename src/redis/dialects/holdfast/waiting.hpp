// How a request stands in the queue, and how it is told that the lock was handed to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/request_id.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

// The key `hf:{N}`, or one of those beside it.
void write_key(const lock_key&, std::string_view suffix, resp::writer&);

// The keys of a lock and its queue, in the order that the scripts know: its value, the waiters,
// when they asked last, the fence counter.
void write_keys(const lock_key&, resp::writer&);

// The text behind the request id in the queue: `:<family><claim in ms>:<way><proof>`, so that the
// queue holds all that handing the lock over needs. A lock that several may hold has more in
// between, and that tells its family.
class place_suffix {
 public:
  place_suffix(family whose, const claim& waiting) noexcept;
  std::string_view text() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 2 + 20 + 2 + 16> text_;
  std::uint8_t size_;
};

// The family of a queue in which this letter stands behind a request id. None: of no queue.
family family_of_place(char letter) noexcept;

// The channel on which a client hears of its grants.
std::string channel_of(const key_space&, const client_id&);
// In a cluster, that of one lock, whose messages stay within the lock's hash slot. The scripts know
// both (parts/channels.lua, parts/tell_in_slot.lua).
std::string channel_of(const client_id& client, const lock_key&);

// The lock was handed to a request that waits. Any client that may publish can write such a
// message. Only clients that may read the lock's queue know the proof, which the request has drawn
// for this place.
struct handed_over {
  std::uint64_t request = 0;  // its counter; it was made by this client
  bool revocable = false;
  family of = family::mutex;
  token_major major = 0;
  milliseconds claim{};  // for how long the server keeps it
  server_time at;
  std::uint64_t proof = 0;
  std::string name;  // of the lock
  friend bool operator==(const handed_over&, const handed_over&) = default;
};

// The request is the first of its queue now: when the owner was given the lock, it was for so long.
struct first_in_line {
  std::uint64_t request = 0;
  milliseconds owner_has{};
  friend bool operator==(const first_in_line&, const first_in_line&) = default;
};

// Somebody waits for a lock that this request keeps.
struct wanted {
  std::uint64_t request = 0;
  friend bool operator==(const wanted&, const wanted&) = default;
};

// A lock of a quorum that this request wants is free at the member that says so.
struct freed {
  std::uint64_t request = 0;
  friend bool operator==(const freed&, const freed&) = default;
};

using channel_message = std::variant<handed_over, first_in_line, wanted, freed>;

// It tells of this request, which waits in queues of that family.
bool is_for(const handed_over&, family, const claim& waiting);

// It says no more than the server would: a claim as long as was asked for, and a major that is not
// further ahead of the server's clock than counters may be. Otherwise it is a reason to ask.
bool is_plausible(const handed_over&, const claim& waiting) noexcept;

// Reads a message of `client`'s channel. Nothing: it is none that we understand, or it names
// another client's request. Any client that may publish can write anything there.
std::optional<channel_message> read_message(const key_space&, const client_id& client,
                                            std::string_view message);

}  // namespace holdfast::dialects
