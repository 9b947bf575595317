// One process with one lock: it acquires it, holds it for a while, releases it, again and again.
// Runs the machines as src/runtime does, on a clock of its own that is a little fast or slow.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/request_id.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/hold_machine.hpp"
#include "lease/local_turns.hpp"
#include "lease/release_machine.hpp"
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
  // Whoever waits for a change may have been granted it, so that he cannot renew what he had.
  // And whoever keeps a lock does not hear that others want it.
  void message_lost() {
    undisturbed_ = undisturbed_ && !changing_;
    hears_all_ = false;
    keeps_since_.reset();
  }

  // For its wire.
  void answered(use what, const utterance& when, const resp::value& reply);
  void unanswered(use what, leasing::missing how = leasing::missing::unknown);
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
  // The same, and nothing has happened to it since it was told its place in the queue.
  bool is_calm_as(std::string_view request) const {
    return place_ && !wire_.stalls() && lives_as(request);
  }
  bool believes() const { return holding_ && holding_->held(now()); }
  const belief& believed() const noexcept { return belief_; }
  const std::optional<place>& stands_at() const noexcept { return place_; }
  // Since when it has the lock without using it, if nothing has happened to it meanwhile.
  const std::optional<monotonic_time>& keeps_since() const noexcept { return keeps_since_; }

 private:
  monotonic_time now() const;
  dialects::wakeup_way way() const noexcept {
    return deaf_ ? dialects::wakeup_way::poll : dialects::wakeup_way::channel;
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
  void subscribe();
  void rest();

  // client_asking.cpp
  leasing::patience draw_patience();
  milliseconds draw_lease();
  dialects::token_major draw_floor();
  void draw_options(dialects::claim& wanted);
  void told();
  void obey(const leasing::step& step);
  void send(leasing::ask what, bool resend);
  // An answer to one of those who ask; `follow` does what its machine says then.
  void ask_answered(std::optional<leasing::acquire_machine>& asks, const dialects::claim& claim,
                    const resp::value& reply, const utterance& when,
                    void (client::*follow)(const leasing::step&));
  void note_place(const dialects::queued& where, const request_id& of, const utterance& when);
  void give_back(const request_id& left, dialects::token_major major);
  void wake_at(monotonic_time local);

  // client_holding.cpp
  void hold(const leasing::acquire_outcome& got);
  void take(const leasing::acquire_outcome& got, history::kind how);
  void obey(const leasing::hold_step& step);
  void obey(const leasing::release_step& step);
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
  void obey_change(const leasing::step& step);
  void send_change(leasing::ask what, bool resend);
  void settle(bool is_unclear);
  void changed(const leasing::acquire_outcome& got);
  void refuse_change(const leasing::acquire_outcome& got);

  world& world_;
  const std::uint16_t number_;
  const drifting_clock clock_;
  simulation::wire wire_;
  bool deaf_ = false;  // no messages come over its present connection
  std::uint64_t life_ = 0;
  client_id id_;
  std::uint64_t requests_ = 0;
  std::uint64_t operation_ = 0;  // of a tenure, for the history: its first request
  leasing::server_clock clock_of_server_;
  monotonic_time sampled_at_{};  // the world's time
  dialects::token_major floor_ = 0;

  dialects::claim claim_{.owner = request_id{id_, 0}};
  std::optional<leasing::acquire_machine> acquiring_;
  std::optional<leasing::hold_machine> holding_;
  std::optional<leasing::release_machine> releasing_;

  // What it has becomes something else.
  dialects::demand has_, wanted_;
  dialects::claim change_claim_{.owner = request_id{id_, 0}};
  std::optional<leasing::acquire_machine> changing_;
  std::uint64_t change_timer_ = 0;
  std::uint64_t withdrawn_change_ = 0;  // the last request that the server has undone
  bool releases_then_ = false;
  bool change_is_unclear_ = false;  // nobody has said how one of this tenure has ended
  bool mode_is_unclear_ = false;    // the same, and no renewal has shown it since

  leasing::ask asked_ = leasing::ask::nothing;  // last, of the request
  bool told_ = false;                           // what has come of its call
  monotonic_time give_up_at_{};                 // on its own clock
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
  std::uint64_t timer_ = 0, tenure_ = 0;
  monotonic_time frozen_until_{};  // the world's time
  bool served_ = false, rests_ = false;
};

}  // namespace holdfast::simulation
