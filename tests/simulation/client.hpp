// One process with one lock: it acquires it, holds it for a while, releases it, again and again.
// Obeys a lock_session as src/runtime does, on a clock of its own that is a little fast or slow.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/request_id.hpp"
#include "lease/local_turns.hpp"
#include "lease/lock_session.hpp"
#include "lease/server_clock.hpp"
#include "simulation/drifting_clock.hpp"
#include "simulation/promises.hpp"
#include "simulation/wire.hpp"

namespace holdfast::simulation {

inline constexpr milliseconds longest_lease{3000};
inline constexpr milliseconds longest_use{3000};
inline constexpr milliseconds longest_delay{500};
inline constexpr milliseconds longest_keeping{1000};

class client {
 public:
  client(world& of, std::uint16_t number);

  void begin();
  void cancel();
  void disturb();
  void freeze(nanoseconds most);
  void stop_for(nanoseconds time);
  void break_connection();
  // The way between it and the server, alone, is not what it was.
  void afflict(trouble what, monotonic_time until);
  // A client that waits for a change may have been granted it, so that it cannot renew its old
  // lease. And a client that retains a lock does not hear that others want it.
  void message_lost() {
    undisturbed_ = undisturbed_ && !change_;
    hears_all_ = false;
    keeps_since_.reset();
  }

  // For its wire.
  void answered(use what, const utterance& when, const resp::value& reply);
  void unanswered(use what, no_answer how = no_answer::unknown);
  void heard(const resp::value& push, const utterance& when);
  // A frozen process does nothing until it runs again; a crashed one nothing any more.
  void later(monotonic_time when, std::function<void()> what);
  std::uint64_t life() const noexcept { return life_; }

  int connection() const noexcept { return wire_.connection(); }
  simulation::wire& wire() noexcept { return wire_; }
  std::string name() const { return "client " + std::to_string(number_); }
  // It has been served since the faults ended, and wants no more.
  bool rests() const noexcept { return rests_; }
  // It runs, reaches the server, and asks by this request.
  bool lives_as(std::string_view request) const;
  // It is calm, and nothing has happened to it since it was told its place in the queue.
  bool is_calm_as(std::string_view request) const {
    return place_ && !wire_.stalls() && lives_as(request);
  }
  bool believes() const {
    return mine_ && mine_->session.has_lease() && now() < mine_->session.deadline();
  }
  const belief& believed() const noexcept { return belief_; }
  const std::optional<place>& stands_at() const noexcept { return place_; }
  // Since when it has the lock without using it, if nothing has happened to it meanwhile.
  const std::optional<monotonic_time>& keeps_since() const noexcept { return keeps_since_; }

 private:
  // One request for the lock, from asking to given back.
  struct request {
    request(const substrate::claim& wanted, leasing::patience patience, bool renews)
        : claim(wanted),
          session(claim, patience,
                  {.response_timeout = short_milliseconds{response_timeout}, .renews = renews},
                  leasing::while_busy, wanted.owner.counter()) {}
    std::string name() const { return std::string{claim.owner.text()}; }
    bool is(std::uint64_t counter) const { return claim.owner.counter() == counter; }

    substrate::claim claim;
    leasing::lock_session session;
    substrate::demand changes_into{};            // what the claim wants, where it is a change
    leasing::ask asked = leasing::ask::nothing;  // last
    std::uint64_t timer = 0;
    bool told = false;  // its caller has been
    bool was_held = false;
  };

  monotonic_time now() const;
  substrate::wakeup_way way() const noexcept {
    return deaf_ ? substrate::wakeup_way::poll : substrate::wakeup_way::channel;
  }
  moment sending() const { return {now(), clock_of_server_.estimate(now())}; }
  void tell(history::event what);
  // What it believes now.
  void tell_belief(history::kind how);
  void learn(monotonic_time sent_at, server_time said);
  void later_here(monotonic_time local, std::function<void()> what);

  // client.cpp: what happens to it
  void plan_mishaps();
  void crash();
  void connect();
  void doubt_if_other_server();
  void subscribe();
  void rest();

  // client_asking.cpp
  leasing::patience draw_patience();
  milliseconds draw_lease();
  substrate::token_major draw_floor();
  void draw_options(substrate::claim& wanted);
  bool waits() const noexcept { return mine_ && !mine_->was_held; }
  // The request that hears the next answer; null: none.
  request* asks() noexcept { return change_ ? change_.get() : mine_.get(); }
  request* waits_as(std::uint64_t counter) noexcept;
  void told(const leasing::outcome& how);
  void send(request& one, leasing::ask what, bool resend);
  void note_place(const substrate::queued& where, const request& of, const utterance& when);
  void give_back(const request_id& left, substrate::token_major major);
  void wake_at(request& one, monotonic_time local);

  // client_obeying.cpp
  leasing::lock_session& session(request& one);
  void obey(request& one, const leasing::effects& all);
  void ended(request& one);

  // client_holding.cpp
  bool has_lock() const noexcept { return mine_ && mine_->session.can_be_released(); }
  void take(request& got, monotonic_time granted_at, history::kind how);
  void lost();
  void renewed(const resp::value& reply, monotonic_time sent_at);
  void send_renewal();
  void use_it();
  void release();
  void check_loss() const;

  // client_keeping.cpp
  leasing::local_turns::glance seen() const;
  void retain();
  void obey(const leasing::local_turns::step& step);
  void asked_for();

  // client_changing.cpp
  void plan_change();
  void begin_change();
  void hear_of_change(leasing::change_news what);
  void follow_mode();
  void replace(bool in_vain);
  void change_ended();

  world& world_;
  const std::uint16_t number_;
  const drifting_clock clock_;
  simulation::wire wire_;
  bool deaf_ = false;            // no messages come over its present connection
  std::uint64_t connected_ = 0;  // to which server last; 0: to none yet
  std::uint64_t life_ = 0;
  client_id id_;
  std::uint64_t requests_ = 0;
  std::uint64_t operation_ = 0;  // of an attempt, for the history: its first request
  leasing::server_clock clock_of_server_;
  monotonic_time sampled_at_{};  // the world's time
  substrate::token_major floor_ = 0;

  std::shared_ptr<request> mine_;
  std::shared_ptr<request> change_;  // its lease becomes something else
  std::uint64_t timers_ = 0;
  std::uint64_t withdrawn_change_ = 0;  // the last request that the server has undone
  bool releases_then_ = false;
  bool change_is_unclear_ = false;  // nobody has said how one of this attempt has ended

  monotonic_time give_up_at_{};  // on its own clock
  std::optional<place> place_;
  belief belief_;
  std::optional<monotonic_time> answer_sent_at_;  // of the answer being heard; the world's time
  bool granted_by_answer_ = false;
  bool knows_from_elsewhere_ = false;  // its floor is that of another server
  bool renews_ = true, undisturbed_ = false, lost_ = false;
  milliseconds retain_{};
  leasing::local_turns turns_{{}};
  bool hears_all_ = false;
  std::optional<monotonic_time> keeps_since_;
  monotonic_time granted_at_{};  // on its own clock
  std::uint64_t attempt_ = 0;
  monotonic_time frozen_until_{};  // the world's time
  bool served_ = false, rests_ = false;
};

}  // namespace holdfast::simulation
