// Commands that are written down and not sent yet: any thread adds some, one at a time sends all.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/mutex.hpp"
#include "base/time.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/request.hpp"
#include "redis/resp/loaded_scripts.hpp"

namespace holdfast::redis {

// Thread safety: none, but while send() unlocks others may use it.
class outbox {
 public:
  // For a new link to a server on which these scripts were loaded.
  void start(std::span<const resp::script* const> loaded, bool in_cluster) {
    scripts_.start(loaded, in_cluster);
  }
  // The link is no more.
  void clear() noexcept;

  bool empty() const noexcept { return written_.empty(); }
  std::size_t commands() const noexcept { return commands_; }

  // The socket took no more, and nothing is sent until unblock().
  bool is_blocked() const noexcept { return blocked_; }
  void unblock() noexcept { blocked_ = false; }

  bool is_being_sent() const noexcept { return being_sent_; }
  bool can_be_sent() const noexcept { return !being_sent_ && !blocked_ && !empty(); }

  void add(request& r, monotonic_time now);
  // False: there is no memory for them, and no part of either will be sent. `second` may be null.
  bool try_add(request& first, request* second, monotonic_time now) noexcept;

  // When it can_be_sent(). Unlocks meanwhile; with `lets_others_add`, before it begins as well.
  // `closed`: the link is broken.
  link::outcome send(link& over, mutex& guard, bool lets_others_add) HOLDFAST_REQUIRES(guard);

 private:
  bool keep_unsent() noexcept;

  resp::loaded_scripts scripts_;
  std::string written_;
  std::size_t commands_ = 0;  // in it
  bool being_sent_ = false;
  bool blocked_ = false;
  // These belong to the thread that set being_sent_.
  std::string sending_;
  std::size_t sent_ = 0;
};

}  // namespace holdfast::redis
