// The parts of a run of simulation/quorum.hpp: the members, the connections to them, and the
// clients that want the lock.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/lock_key.hpp"
#include "lease/quorum_lease.hpp"
#include "lease/quorum_machine.hpp"
#include "lease/server_clock.hpp"
#include "redis/dialects/holdfast/quorum.hpp"
#include "simulation/dice.hpp"
#include "simulation/drifting_clock.hpp"
#include "simulation/quorum.hpp"
#include "simulation/server/simulated_server.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation::quorum {

inline constexpr milliseconds response_timeout{200}, longest_lease{2000};
inline constexpr nanoseconds one_way = std::chrono::milliseconds{2};

class candidate;

// One server of the quorum.
struct member {
  member(microseconds wall_time, std::int64_t faster_by)
      : server(wall_time), clock(timeline::begin, faster_by) {}
  simulated_server server;
  const drifting_clock clock;
  monotonic_time at = timeline::begin;  // how far that is
  monotonic_time frozen_until = timeline::begin;
  microseconds set{0}, furthest{0};  // by how much its clock was, in all and at most
};

// Virtual time, the members, and what goes wrong.
class assembly : public timeline {
 public:
  assembly(std::uint64_t seed, bool calm);
  ~assembly();
  quorum_outcome run();

  bool faults() const noexcept { return now() < faults_end_; }
  bool is_calm() const noexcept { return calm_; }
  // Links fail one by one, and members forget while their votes count.
  bool are_links_bad() const noexcept { return links_are_bad_; }
  dice& chance() noexcept { return dice_; }
  // A client's clock is faster by so many millionths where its own draw says so many.
  std::int64_t drift_of_client(std::int64_t drawn) const noexcept {
    return drifts_ == drifts::clients ? drawn : drifts_ == drifts::both ? drawn / 2 : 0;
  }
  const lock_key& key() const noexcept { return key_; }
  std::size_t size() const noexcept { return members_.size(); }
  std::span<const std::string> names() const noexcept { return names_; }
  quorum_outcome& result() noexcept { return result_; }

  // At the member's present time.
  simulated_server& server(std::size_t i);
  monotonic_time awake_at(std::size_t i) const noexcept { return members_[i]->frozen_until; }
  // Executes it, and tells others what it published.
  resp::value execute(std::size_t i, int connection, const std::string& bytes);
  // The request that has the member's vote; empty: none.
  std::string vote_of(std::size_t i);
  milliseconds vote_ends_in(std::size_t i);  // 0: there is none
  // The largest token that anybody got.
  substrate::token_major last_token() const noexcept {
    return tokens_.empty() ? 0 : *tokens_.rbegin();
  }
  void granted(substrate::token_major token, substrate::token_major before_it_asked,
               monotonic_time asked_at);
  // From the first to the second its votes are taken back, and then all members have answered that
  // they have none; it may be done twice.
  void returning(const request_id& request) { ++returns_[std::string{request.text()}]; }
  void returned(const request_id& request) { --returns_[std::string{request.text()}]; }
  void killed(const client_id& who) { killed_.insert(std::string{who.text()}); }

 private:
  std::int64_t draw_drift_of_member();
  void plan_faults();
  void plan_links();
  void plan_weather(candidate& of, std::size_t i, monotonic_time from);
  bool somebody_else_believes(const std::string& than) const;
  void forget_soon(std::size_t i, const std::string& voted_for);
  void restart(std::size_t i, bool empty);
  void set_clock(std::size_t i, microseconds by);
  std::size_t blank_members();
  void check_beliefs();
  void check_votes_left();
  void check_nothing_left();

  // Draws from the second do not change draws from the first.
  dice dice_, other_dice_;
  const bool calm_;
  const bool links_are_bad_;
  // Whose clocks are set: of the members that may lose their memory, or of all that keep it.
  const enum class clocks { none, of_few, of_all } clocks_;
  // Whose clocks are faster or slower. No two that are compared differ by more than is allowed for.
  const enum class drifts { clients, members, both } drifts_;
  const lock_key key_{"leader"};
  monotonic_time faults_end_;
  monotonic_time set_forward_ = begin - std::chrono::hours{1};  // when a clock was last
  std::vector<std::unique_ptr<member>> members_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<candidate>> candidates_;
  std::set<substrate::token_major> tokens_;  // that were given out
  std::set<std::string> killed_;             // clients
  std::map<std::string, int> returns_;       // of requests: those that have not ended
  quorum_outcome result_;
};

// Faults of one link between a client and a member, and of no other.
struct weather {
  bool refuses = false;  // connections break, and none is made
  // One way: bytes that are sent meanwhile arrive only then, perhaps when their connection is long
  // gone.
  monotonic_time requests_held_until{}, answers_held_until{};
  nanoseconds slow_by{0};  // each way, at most
};

// One client's connection to one member: in order, until it breaks; then nobody knows the fate of
// unanswered requests. Connects again when it is used, if the link lets it.
class wire {
 public:
  // Without a reply: `how` says why.
  using heard =
      std::function<void(const resp::value* reply, monotonic_time sent_at, no_answer how)>;

  wire(assembly& where, candidate& whose, std::size_t at) : where_(where), whose_(whose), at_(at) {}

  void connect();
  void send(std::string bytes, heard tell);
  void set(const weather& now);
  // Messages of the member come when answers do, or not at all.
  bool delivers() const noexcept;
  void break_off();
  void forget() noexcept;  // the client has died
  int connection() const noexcept { return connection_; }

 private:
  struct question {
    std::uint64_t number;
    monotonic_time sent_at;
    heard tell;
  };
  void arrive(const std::string& bytes, std::uint64_t number, int connection);
  void arrive_late(const std::string& bytes);
  nanoseconds trip();
  nanoseconds spite();
  void answered(std::uint64_t number, const resp::value& reply);

  assembly& where_;
  candidate& whose_;
  const std::size_t at_;
  int connection_ = -1;
  std::uint64_t asked_ = 0;
  std::list<question> open_;
  monotonic_time last_arrival_{}, last_reply_{};
  weather weather_{};
};

// The votes for one request are taken back: as runtime::quorum_return.
class giving_back : public std::enable_shared_from_this<giving_back> {
 public:
  giving_back(candidate& of, const leasing::quorum_release_machine::scope& where,
              const substrate::quorum_claim& claim, std::vector<request_id> listeners);
  void start();

 private:
  void obey(const leasing::quorum_release_step& step);
  void answered(std::size_t i, const resp::value* reply, no_answer how);

  candidate& of_;
  const std::uint64_t life_;
  const substrate::quorum_claim claim_;
  const std::vector<request_id> listeners_;
  const monotonic_time until_;
  leasing::quorum_release_machine machine_;
  std::uint64_t timer_ = 0;
};

// One wish for the lock, from asking to giving back: as runtime::quorum_bid and quorum_driver.
class wish : public std::enable_shared_from_this<wish> {
 public:
  wish(candidate& of, milliseconds lease, bool renews, leasing::patience patience);

  void start();
  void stop();
  void give_back();
  void hint();
  bool believes() const;
  bool hears(std::uint64_t request) const;
  const request_id& owner() const noexcept { return owner_; }
  milliseconds lease() const noexcept { return lease_; }

 private:
  void obey(const leasing::quorum_step& step);
  void obey(const leasing::quorum_lease_step& step);
  void ask(const leasing::member_ask& what);
  void renew(std::size_t i);
  void hold(const leasing::quorum_outcome& won);
  void wake_at(monotonic_time local);
  substrate::quorum_claim claim() const;

  candidate& of_;
  const std::uint64_t life_;
  const milliseconds lease_;
  const bool renews_;
  const monotonic_time since_;
  leasing::quorum_machine asks_;
  std::optional<leasing::quorum_lease_machine> holds_;
  request_id owner_;
  monotonic_time asked_at_{};               // its votes
  substrate::token_major last_before_ = 0;  // then
  std::vector<request_id> listeners_;
  std::uint64_t timer_ = 0;
};

// A client that wants the lock, uses it, and gives it back.
class candidate {
 public:
  candidate(assembly& of, std::uint8_t number);

  void begin();
  bool rests() const noexcept { return rests_; }
  const wish* wanted() const noexcept { return wish_.get(); }
  int connection(std::size_t i) const noexcept { return wires_[i].connection(); }
  void break_off(std::size_t i) { wires_[i].break_off(); }
  void lose_touch_with_one();
  void lose_touch_with_another(milliseconds lease);
  bool hears(std::size_t i) const noexcept { return wires_[i].delivers(); }
  void heard(const resp::value& push);

  // For its parts.
  assembly& where() noexcept { return assembly_; }
  wire& to(std::size_t i) noexcept { return wires_[i]; }
  const client_id& id() const noexcept { return id_; }
  std::uint64_t life() const noexcept { return life_; }
  request_id next_request() noexcept { return {id_, ++requests_}; }
  const drifting_clock& clock() const noexcept { return clock_; }
  monotonic_time now() const { return clock_.local(assembly_.now()); }
  server_time not_after(std::size_t i);
  void learn(std::size_t i, monotonic_time sent_at, server_time said);
  void learn_if_late(std::size_t i, monotonic_time sent_at, const resp::value& reply);
  substrate::token_major floor(std::size_t i) const noexcept { return floors_[i]; }
  void raise_floors(substrate::token_major token);
  void later(monotonic_time when, std::function<void()> what);
  void got();
  void failed();
  void lost();

 private:
  void crash();
  void cut_off_for(std::size_t i, nanoseconds time);
  void plan_mishaps();
  void leave();
  void rest();

  assembly& assembly_;
  const std::uint8_t number_;
  const drifting_clock clock_;
  std::uint64_t life_ = 0, turn_ = 0, requests_ = 0;
  client_id id_;
  std::vector<wire> wires_;
  std::optional<std::size_t> lost_;  // the member that was out of reach when it asked
  std::vector<leasing::server_clock> server_clocks_;
  std::vector<substrate::token_major> floors_;
  std::shared_ptr<wish> wish_;
  monotonic_time began_{};
  int served_ = 0;
  bool rests_ = false, holds_ = false;
};

}  // namespace holdfast::simulation::quorum
