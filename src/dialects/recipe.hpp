// How one kind of lock is written in Redis: intent to command, reply to verdict. Pure, stateless,
// shared by all threads. Knows no time but what it is given, no socket, no state between calls.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <holdfast/errc.hpp>
#include <holdfast/fencing_token.hpp>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"
#include "resp/value.hpp"
#include "resp/writer.hpp"

namespace holdfast::dialects {

// The part of a fencing token that the server draws; token = major * 2048 + minor.
using token_major = std::uint64_t;
inline constexpr std::uint64_t minors_per_major = 2048;

// One attempt to get a lock, and later the grant that came of it.
struct claim {
  const lock_key* key = nullptr;  // outlives the claim
  request_id owner;
  milliseconds lease{};
  token_major floor = 0;    // the largest major this client knows for the slot
  token_major granted = 0;  // once granted: the major of the grant (0 with fencing off)
};

// Acquire. `again`: the grant was already ours (a resend).
struct granted {
  token_major major = 0;
  milliseconds ttl{};  // in force at the server, counted from when the request was sent
  friend bool operator==(const granted&, const granted&) = default;
};
struct busy {
  std::optional<milliseconds> remaining;  // of the present holder, if the answer tells
  friend bool operator==(const busy&, const busy&) = default;
};
// The request reached the server after its not-after: refused. Carries the server's time.
struct late {
  server_time now;
  friend bool operator==(const late&, const late&) = default;
};
struct refused {
  errc code = errc::server_error;
  bool passing = false;
  std::string detail;
  friend bool operator==(const refused&, const refused&) = default;
};
using acquire_verdict = std::variant<granted, busy, late, refused>;

// Renew and extend.
struct renewed {
  milliseconds ttl{};
  friend bool operator==(const renewed&, const renewed&) = default;
};
struct not_mine {
  friend bool operator==(const not_mine&, const not_mine&) = default;
};
using renew_verdict = std::variant<renewed, not_mine, late, refused>;

// Release and withdraw.
struct released {
  friend bool operator==(const released&, const released&) = default;
};
using release_verdict = std::variant<released, not_mine, refused>;

class recipe {
 public:
  virtual ~recipe() = default;

  // Asks for the lock. `resend`: an earlier copy of this request may have been executed.
  // The server refuses it after `not_after`.
  virtual void write_acquire(const claim&, bool resend, server_time not_after,
                             resp::writer&) const = 0;
  virtual acquire_verdict read_acquire(const claim&, const resp::value&) const = 0;

  // Renews up to `renew_batch` claims in one command (all on one hash slot where that matters).
  // PX is never shortened. Verdict i belongs to claims[i].
  static constexpr std::size_t renew_batch = 100;
  virtual void write_renew(std::span<const claim* const>, server_time not_after,
                           resp::writer&) const = 0;
  virtual renew_verdict read_renew(const resp::value&, std::size_t index) const = 0;

  // Gives the lock back if it is ours (by token and owner).
  virtual void write_release(const claim&, resp::writer&) const = 0;
  // The same when the grant's token is not known: the answer to the acquire never came.
  virtual void write_withdraw(const claim&, resp::writer&) const = 0;
  virtual release_verdict read_release(const resp::value&) const = 0;
};

}  // namespace holdfast::dialects
