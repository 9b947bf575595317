// Tells the server which threads of a client wait for locks while they hold others, so that threads
// that wait for each other are found (docs/decisions/0015-deadlock-detection.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "base/identity.hpp"
#include "base/mutex.hpp"
#include "base/request_id.hpp"
#include "lease/step.hpp"
#include "redis/connection/connection.hpp"
#include "redis/dialects/holdfast/waits.hpp"
#include "redis/locks/words.hpp"
#include "runtime/wait_watch.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// A wait is written down when it has lasted a while, and again while it lasts; each time the client
// looks for cycles that one of its waits is part of. A cycle is believed when the server has
// confirmed it, and then it ends the wait that has closed it.
//
//   resting     nothing is under way
//   noting      waits are being written; the answer has those of all clients
//   confirming  the server looks whether what we found is a cycle
//
// Thread safety: all members from any thread.
class deadlock_watch final : public runtime::wait_watch, private timed {
 public:
  deadlock_watch(redis_engine& owner, const client_id& id);

  class blocked final : public wait {
   public:
    blocked(deadlock_watch& watch, const lock_spec& wants, identity thread, std::stop_token stop);
    ~blocked() override;

    std::stop_token stop() const noexcept override { return ended_.get_token(); }
    std::optional<leasing::outcome> report() const override;

   private:
    friend class deadlock_watch;
    struct forward {
      std::stop_source to;
      void operator()() const noexcept {
        auto alive = to;
        alive.request_stop();
      }
    };
    deadlock_watch& watch_;
    const lock_spec& wants_;
    const identity thread_;
    const std::string id_;
    const monotonic_time due_;  // when it is written down
    std::stop_source ended_;
    // Guarded by the watch's mutex:
    std::string record_;         // empty: not written yet
    std::uint64_t round_ = 0;    // in which it was written last
    server_time noted_until_{};  // see dialects::ended_wait
    std::optional<leasing::outcome> report_;

    std::stop_callback<forward> forward_;
  };

  // Of wait_watch.
  std::unique_ptr<wait> begin(const lock_spec& wants, identity thread,
                              std::stop_token stop) override;
  void acquired(identity thread, const std::shared_ptr<lock_driver>& what) override
      HOLDFAST_EXCLUDES(mutex_);
  void released(const lock_driver& what) override HOLDFAST_EXCLUDES(mutex_);

 private:
  class command final : public redis::request {
   public:
    explicit command(deadlock_watch& of) : of_(of) {}

   private:
    void write(resp::writer& out, monotonic_time) override;
    void on_reply(resp::value& reply) override { of_.on_reply(reply); }
    void on_failed(no_answer, const redis::breakdown&) override;
    deadlock_watch& of_;
  };
  struct note {
    dialects::wait_note what;
    server_time not_after;
  };
  struct suspicion {
    std::vector<substrate::known_wait> all;
    std::vector<substrate::link_of_cycle> cycle;  // points into `all`
    server_time noted_until;                      // of the first of them
  };
  // Of any client, as it was told in this pass through all of them.
  struct told {
    substrate::known_wait what;
    std::uint64_t pass;
  };
  struct had {
    identity thread;
    std::weak_ptr<lock_driver> what;
  };

  void on_timer(monotonic_time now) override HOLDFAST_EXCLUDES(mutex_);
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return {std::shared_ptr<void>{}, this}; }
  void on_reply(resp::value& reply) HOLDFAST_EXCLUDES(mutex_);

  std::string next_id() HOLDFAST_EXCLUDES(mutex_);
  // Sends what is to be written, if anything is.
  void tell(monotonic_time now, redis::connection::delivery how) HOLDFAST_EXCLUDES(mutex_);
  bool prepare(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void say_again(const note& unheard) HOLDFAST_REQUIRES(mutex_);
  bool reads_on() const HOLDFAST_REQUIRES(mutex_);
  void keep(dialects::part_of_waits part) HOLDFAST_REQUIRES(mutex_);
  void look_for_a_cycle() HOLDFAST_REQUIRES(mutex_);
  // Return the waits that are over: the caller must say so, without the mutex.
  using stops = std::vector<std::stop_source>;
  stops on_noted(const resp::value& reply, monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  stops on_confirmed(const resp::value& reply, monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  stops refuse(const substrate::refused& why, monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  std::string record_of(const blocked& one) HOLDFAST_REQUIRES(mutex_);
  void rest(monotonic_time now) HOLDFAST_REQUIRES(mutex_);
  void plan(monotonic_time at) HOLDFAST_REQUIRES(mutex_);

  redis_engine& engine_;
  const client_id id_;
  const std::string who_;
  command command_{*this};
  mutex mutex_;
  std::uint64_t counted_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  std::vector<blocked*> waits_ HOLDFAST_GUARDED_BY(mutex_);              // oldest first
  std::vector<dialects::ended_wait> ended_ HOLDFAST_GUARDED_BY(mutex_);  // written, and over since
  std::unordered_map<const lock_driver*, had> has_ HOLDFAST_GUARDED_BY(mutex_);
  monotonic_time pause_ends_ HOLDFAST_GUARDED_BY(mutex_){};  // the server could not take it
  monotonic_time planned_ HOLDFAST_GUARDED_BY(mutex_) = monotonic_time::max();  // of the timer
  monotonic_time again_at_ HOLDFAST_GUARDED_BY(mutex_){};  // when all is written again
  std::uint64_t round_ HOLDFAST_GUARDED_BY(mutex_) = 0;    // in each all that is written is again
  // All clients' waits as the server has told them, in parts.
  std::unordered_map<std::string, told> known_ HOLDFAST_GUARDED_BY(mutex_);
  std::string next_part_ HOLDFAST_GUARDED_BY(mutex_){dialects::first_part};
  std::uint64_t pass_ HOLDFAST_GUARDED_BY(mutex_) = 0;
  int parts_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // in this round
  // The request that is being sent: unchanged meanwhile, so that it can be written without the
  // mutex.
  std::variant<std::monostate, note, suspicion> under_way_;
};

}  // namespace holdfast::redis_locks
