// The parts of a run of simulation/several.hpp: the world, the clients that want several locks, and
// each lock of their attempts.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lock_key.hpp"
#include "lease/lock_session.hpp"
#include "lease/server_clock.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "simulation/dice.hpp"
#include "simulation/drifting_clock.hpp"
#include "simulation/server/simulated_server.hpp"
#include "simulation/several.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation::several {

inline constexpr nanoseconds fault_phase = std::chrono::seconds{6};
inline constexpr milliseconds response_timeout{200}, longest_lease{2000};

inline const dialects::recipe& how() { return dialects::native_mutex(fencing::on); }

class customer;

// Virtual time, the server, and the network between it and the customers.
class market : public timeline {
 public:
  explicit market(std::uint64_t seed);
  ~market();
  several_outcome run();

  bool faults() const noexcept { return now() < timeline::begin + fault_phase; }
  dice& chance() noexcept { return dice_; }
  // Draws from this do not change draws from the other.
  dice& other_chance() noexcept { return other_dice_; }
  // Some want locks each by itself, and wait for several at once.
  bool is_waited_for_at_once() const noexcept { return at_once_; }
  bool has_shards() const noexcept { return server_.has_shards(); }
  const std::array<lock_key, 3>& keys() const noexcept { return keys_; }
  several_outcome& result() noexcept { return result_; }

  int connect() { return server_.connect(); }
  void disconnect(int connection) { server_.disconnect(connection); }
  resp::value execute(int connection, const std::string& bytes);
  // `heard` is told the reply, or null, once. `done`: after each execution, heard or not.
  void send(int connection, std::string bytes, std::function<void()> done,
            std::function<void(const resp::value*, monotonic_time sent_at)> heard);
  // The request that has the lock at the server; empty: nobody.
  std::string owner_of(const lock_key& key);
  // This request has ended, and the server has not said that it knows.
  void unconfirmed(std::string owner) { unconfirmed_.insert(std::move(owner)); }
  bool is_unconfirmed(const std::string& owner) const { return unconfirmed_.contains(owner); }

 private:
  void synchronize();
  void check_beliefs();
  bool may_be_left(std::string_view waiter) const;
  void check_nothing_left();

  void mislead();
  void plan_copies();

  dice dice_, other_dice_;
  const bool in_one_slot_, at_once_;
  const std::array<lock_key, 3> keys_;
  monotonic_time server_at_ = timeline::begin;
  simulated_server server_;
  std::vector<std::unique_ptr<customer>> customers_;
  std::set<std::string, std::less<>> unconfirmed_;
  several_outcome result_;
};

// One lock of one attempt: as runtime::lock_driver.
class part : public std::enable_shared_from_this<part> {
 public:
  part(customer& of, const lock_key& key, milliseconds lease, leasing::patience patience);

  void start();
  void stop();
  void give_back();
  bool is_wanted() const noexcept { return !session_.is_told(); }
  bool believes() const;
  const substrate::claim& claim() const noexcept { return claim_; }
  std::string owner() const { return std::string{claim_.owner.text()}; }
  const lock_key& key() const noexcept { return *claim_.key; }

  // The answer to a command, its own or that of several.
  void answered(const resp::value* reply, monotonic_time sent_at);
  void heard(const dialects::first_in_line& what);
  void heard(const dialects::handed_over& what);
  void woken();

 private:
  void obey(const leasing::effects& all);
  void send(leasing::ask what, bool resend);
  void renew();
  void renewed(const resp::value* reply, monotonic_time sent_at);
  void wake_at(monotonic_time local);
  void finished();

  customer& of_;
  const std::uint64_t life_;
  substrate::claim claim_;
  leasing::lock_session session_;
  leasing::ask asked_ = leasing::ask::nothing;  // last
  std::uint64_t timer_ = 0;
  bool told_ = false;  // the customer has its outcome
  bool is_over_ = false;
  bool answered_ = false;  // this is heard in an answer
};

// Wants several locks, uses them, gives them back.
class customer {
 public:
  customer(market& of, std::uint8_t number);

  void begin();
  bool rests() const noexcept { return rests_; }
  int connection() const noexcept { return connection_; }
  const client_id& id() const noexcept { return id_; }
  void heard(const resp::value& push);

  // For its parts.
  market& where() noexcept { return market_; }
  const drifting_clock& clock() const noexcept { return clock_; }
  monotonic_time now() const { return clock_.local(market_.now()); }
  server_time not_after() const {
    return leasing::not_after({now(), server_clock_.estimate(now())}, response_timeout);
  }
  std::optional<monotonic_time> earliest(server_time then) const {
    return server_clock_.earliest(then);
  }
  void learn(monotonic_time sent_at, server_time said) {
    server_clock_.sample(clock_.local(sent_at), now(), said);
  }
  request_id next_request() noexcept { return {id_, ++requests_}; }
  std::uint64_t life() const noexcept { return life_; }
  bool joins(const std::shared_ptr<part>& one);
  void transmit(std::string bytes, std::function<void()> done,
                std::function<void(const resp::value*, monotonic_time)> heard);
  void later(monotonic_time when, std::function<void()> what);
  void got(part& one);
  void failed(part& one);
  void lost(part& one);
  void ended(part& one);
  const std::vector<std::shared_ptr<part>>& parts() const noexcept { return parts_; }

 private:
  enum class phase { together, in_turn, using_them, at_once, leaving };
  void connect();
  void crash();
  void plan_mishaps();
  std::shared_ptr<part> want(const lock_key& key, leasing::patience patience);
  void submit(leasing::ask what);
  void go_on();
  leasing::patience draw_patience(dice& from);
  void ask_next();
  void ask_at_once();
  void use_alone(const std::shared_ptr<part>& one);
  void use();
  void leave();
  void rest();

  market& market_;
  const std::uint8_t number_;
  const drifting_clock clock_;
  std::uint64_t life_ = 0, attempt_ = 0, requests_ = 0;
  client_id id_;
  leasing::server_clock server_clock_;
  int connection_ = -1;
  std::vector<const lock_key*> wanted_;
  std::vector<std::shared_ptr<part>> parts_;  // all that have not ended
  std::vector<std::shared_ptr<part>> got_;
  std::vector<std::shared_ptr<part>> joint_;
  bool collects_ = false;
  phase phase_ = phase::leaving;
  bool failed_ = false, served_ = false, rests_ = false;
};

}  // namespace holdfast::simulation::several
