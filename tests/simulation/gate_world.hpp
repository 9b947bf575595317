// The parts of a run of simulation/gates.hpp or values.hpp: the world, and the clients that come to
// its gates and values.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/lock_key.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/once_machine.hpp"
#include "lease/server_clock.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "simulation/change_watch.hpp"
#include "simulation/dice.hpp"
#include "simulation/drifting_clock.hpp"
#include "simulation/gate_watch.hpp"
#include "simulation/gates.hpp"
#include "simulation/server/simulated_server.hpp"
#include "simulation/timeline.hpp"

namespace holdfast::simulation::gates {

inline constexpr milliseconds response_timeout{200};
inline constexpr nanoseconds one_way = std::chrono::milliseconds{2};
// The longer one is for runs so slow that a frozen client is taken for dead.
inline constexpr nanoseconds short_freeze = std::chrono::seconds{3};
inline constexpr nanoseconds longest_freeze = std::chrono::seconds{200};

class walker;
class world;

// Their aim: a gate at which they wait, a value that they change, or a latch, which is both.
struct subject {
  std::shared_ptr<gate_watch> gate;
  std::shared_ptr<change_watch> changes;
};

struct plan {
  std::uint64_t seed = 0;
  std::function<subject(world&)> of;
  std::uint32_t parties = 0;  // so many must have arrived before one goes on; 0: it is no barrier
  std::uint64_t walkers = 0;
  std::uint64_t pace = 1;  // so many times longer than usual everybody thinks, and it lasts
  nanoseconds fault_phase{};
};

// Virtual time, the server, and what happens to all.
class world : public timeline {
 public:
  explicit world(const plan& what);
  ~world();
  gate_outcome run();

  bool faults() const noexcept { return now() < begin + plan_.fault_phase; }
  bool closes() const noexcept { return closes_; }
  const plan& planned() const noexcept { return plan_; }
  dice& chance() noexcept { return dice_; }
  const lock_key& key() const noexcept { return key_; }
  gate_outcome& result() noexcept { return result_; }
  void count(fault what) { ++result_.faults[static_cast<std::size_t>(what)]; }
  bool has_gate() const noexcept { return subject_.gate != nullptr; }
  gate_watch& watch() noexcept { return *subject_.gate; }
  change_watch* changes() noexcept { return subject_.changes.get(); }
  // At its present time.
  simulated_server& server();

  int connect(const std::string& client_id);
  void disconnect(int connection);
  // Whether the server has a connection of this client, or of the maker of this request.
  bool is_connected(std::string_view client) const;
  resp::value execute(int connection, const std::string& bytes, const std::string& request = {},
                      const std::function<void(const resp::value&)>& executed = {});
  std::uint64_t next_position() noexcept { return ++said_; }

 private:
  void plan_faults();
  void empty_the_server();
  void forget_answers();
  void set_the_clock();
  void tell(fault what);
  void know_scripts();
  void check_progress();
  void check_nothing_left();

  const plan plan_;
  const lock_key key_{"gate"};
  dice dice_;
  monotonic_time server_at_ = begin;
  simulated_server server_;
  const subject subject_;
  std::map<int, std::string> connections_;
  std::vector<std::unique_ptr<walker>> walkers_;
  std::uint64_t said_ = 0;
  monotonic_time looked_at_ = begin;
  bool closes_ = false;
  gate_outcome result_;
};

// A request that is sent once, perhaps with a copy, and answered or not.
struct errand {
  std::string bytes{};
  std::string request{};    // the call that it is of
  bool repeatable = false;  // a copy, executed after the answer came, must do no harm
  std::function<void(const resp::value& reply)> executed{};  // at the server, heard or not
  std::function<void(const resp::value* reply, monotonic_time sent_at, std::uint64_t position)>
      heard{};
};

// One process: it comes to the gate, waits, and comes again; and it changes what is there.
class walker {
 public:
  walker(world& of, std::uint16_t number, bool changes);

  void begin();
  void stop();
  void disturb();
  void break_connection(bool noticed);
  void deliver(resp::value push);
  int connection() const noexcept { return connection_; }
  bool rests() const noexcept;

  // The call that waits; empty: none does.
  std::string waits() const;
  // Nothing has happened to it since then.
  monotonic_time calm_since() const noexcept { return std::max(calm_since_, frozen_until_); }
  // For so long it may stay silent.
  nanoseconds silence() const;

 private:
  monotonic_time now() const { return clock_.local(world_.now()); }
  moment sending() const { return {now(), server_clock_.estimate(now())}; }
  void learn(monotonic_time sent_at, server_time said);
  void later(monotonic_time when, std::function<void()> what);
  void later_here(monotonic_time local, std::function<void()> what);
  nanoseconds think_time() const;

  // gate_network.cpp
  void connect();
  void subscribe();
  void send(errand what);
  void travel(const errand& what, bool arrives, nanoseconds delay, std::uint64_t flight);
  void fail(std::uint64_t flight);
  void hear(const resp::value& push, std::uint64_t position);

  // gate_walker.cpp: what happens to it, and how it waits
  void plan_mishaps();
  void freeze();
  void crash();
  void call();
  leasing::patience draw_patience();
  void obey(const leasing::step& step);
  void request_it(leasing::ask what, bool resend);
  void answered(const resp::value* reply, monotonic_time sent_at, std::uint64_t position);
  void wake_at(monotonic_time local);
  void told(const leasing::acquire_outcome& what);
  std::string request() const { return std::string{claim_.owner.text()}; }

  // gate_changing.cpp
  void change();
  void change_to(request_id id, dialects::once_call call);
  void send_change();
  void change_answered(const resp::value* reply, monotonic_time sent_at);
  void changed(const leasing::once_machine::end& how);

  world& world_;
  const std::uint16_t number_;
  const bool changes_;
  const drifting_clock clock_;
  std::uint64_t life_ = 0;
  client_id id_;
  std::uint64_t requests_ = 0;
  leasing::server_clock server_clock_;
  substrate::token_major floor_ = 0;
  monotonic_time frozen_until_ = timeline::begin, calm_since_ = timeline::begin;

  int connection_ = -1;
  bool deaf_ = false;  // no messages come over it
  std::uint64_t flights_ = 0;
  std::map<std::uint64_t, decltype(errand::heard)> under_way_;
  monotonic_time heard_until_ = timeline::begin;  // what was sent first is heard first

  substrate::claim claim_{.owner = request_id{id_, 0}};
  std::optional<leasing::acquire_machine> asks_;
  leasing::ask asked_ = leasing::ask::nothing;    // last
  std::optional<monotonic_time> answer_sent_at_;  // of the answer being heard; the world's time
  monotonic_time called_at_ = timeline::begin;
  std::uint64_t place_ = 0, timer_ = 0, calls_ = 0;
  bool is_told_ = true, by_message_ = false, served_ = false;

  struct wish {
    dialects::once_call call;
    request_id id;
    leasing::once_machine machine;
  };
  std::optional<wish> wish_;
};

}  // namespace holdfast::simulation::gates
