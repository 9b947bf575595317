// Keys whose value this client wants to know at every change.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "redis/connection/connection.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/slot_map.hpp"
#include "redis/locks/words.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// The server tells us that a key has changed (server-assisted client-side caching: CLIENT TRACKING
// ON OPTIN, and CLIENT CACHING YES before each GET), and then it is read. Nothing depends on that:
// it is read again every `reread_after` anyhow, and when the connection was made again; where the
// server cannot tell us, every `poll_after`.
inline constexpr milliseconds reread_after{5000};
inline constexpr milliseconds poll_after{250};

// One that is observed. Destroying it, or `stop`, ends that: no call of `tell` is under way then,
// unless it is called by that very call, or by a callback for whose end that call waits.
// Thread safety: all members from any thread.
class observed_key final : public std::enable_shared_from_this<observed_key>, private timed {
 public:
  // The text in a key; nothing where there is no key with a text.
  using value = std::optional<std::string>;
  // On the callback thread, for the first value and then for each that differs from the last told.
  // Values that came and went meanwhile are not told.
  using teller = std::function<void(const value&)>;

  observed_key(redis_engine& owner, std::string key, teller tell);
  ~observed_key();

  const std::string& key() const noexcept { return key_; }
  std::uint16_t slot() const noexcept { return slot_; }
  void read();  // again, now
  void stop();

 private:
  friend class observed_keys;

  // One of the commands that make up a reading.
  class command final : public redis::request {
   public:
    enum class kind : std::uint8_t { track, cache, get };
    command(observed_key& of, kind what) : of_(of), what_(what) {}
    void write(resp::writer& out, monotonic_time) override;
    void on_reply(resp::value& reply) override { of_.on_reply(what_, reply); }
    void on_failed(no_answer, const redis::breakdown&) override { of_.on_failed(); }

   private:
    observed_key& of_;
    const kind what_;
  };
  class notice;

  void send(bool tracks);
  void listen(redis::connection* to);
  void on_reply(command::kind what, resp::value& reply);
  void on_failed();
  void answered();
  void on_read();
  void tell();
  void on_timer(monotonic_time) override { read(); }
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }

  redis_engine& engine_;
  const std::string key_;
  const std::uint16_t slot_;
  teller tell_;  // not touched by stop() while it runs
  command track_{*this, command::kind::track};
  command cache_{*this, command::kind::cache};
  command get_{*this, command::kind::get};

  std::mutex mutex_;
  std::condition_variable told_;
  bool stopped_ = false;
  std::uint8_t unanswered_ = 0;           // commands of the reading under way
  bool read_again_ = false;               // the value may have changed since it began
  bool failed_ = false;                   // it brought no value
  bool tracks_ = false;                   // it began with switching tracking on
  bool is_tracked_ = false;               // the server will tell the next change
  bool cannot_track_ = false;             // it refuses to
  redis::connection* listens_ = nullptr;  // somebody reads this connection for us
  bool notice_runs_ = false;              // `tell` will be called
  std::atomic<bool> telling_{false};      // `tell_` runs; changed under mutex_
  std::optional<value> last_;             // read
  std::optional<value> last_told_;
  std::shared_ptr<observed_key> self_;  // while a reading is under way
};

// Thread safety: all members from any thread.
class observed_keys {
 public:
  explicit observed_keys(redis_engine& owner) : engine_(owner) {}

  // `tell` must not outlive what it refers to: `stop` ends the observation.
  std::shared_ptr<observed_key> observe(std::string key, observed_key::teller tell);

  void on_push(const resp::value& message);
  void on_broken(const slot_set& of);

 private:
  std::vector<std::shared_ptr<observed_key>> alive();

  redis_engine& engine_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<observed_key>> keys_;
};

}  // namespace holdfast::redis_locks
