// Time and server of a run, what happens to all, and the run.
#include "simulation/gate_world.hpp"

#include <algorithm>
#include <utility>

#include "lease/waiting_times.hpp"
#include "redis/dialects/catalog.hpp"
#include "simulation/barrier_watch.hpp"
#include "simulation/latch_watch.hpp"

namespace holdfast::simulation {
namespace gates {

using namespace std::chrono_literals;

namespace {

constexpr microseconds longest_step = 5s;
// On top of the time for which one may stay silent: until a request is refused whose answer never
// came, and the pause after it.
constexpr nanoseconds slack = 1s;
constexpr nanoseconds between_looks = 20ms;
// The remaining keys of a latch or a barrier end in ten minutes.
constexpr nanoseconds memory = 700s;

}  // namespace

world::world(const plan& what) : plan_(what), dice_(what.seed), subject_(what.of(*this)) {
  know_scripts();
}

world::~world() = default;

simulated_server& world::server() {
  const auto past = std::chrono::floor<microseconds>(now() - server_at_);
  server_.advance(past);
  server_at_ += past;
  return server_;
}

void world::know_scripts() {
  for (const auto& row : dialects::catalog()) {
    for (const auto* const script : row.scripts) server_.know(*script);
  }
  if (changes() == nullptr) return;
  for (const auto& script : changes()->scripts()) server_.know(script);
}

int world::connect(const std::string& client) {
  const int connection = server_.connect();
  if (!client.empty()) connections_.emplace(connection, client);
  return connection;
}

void world::disconnect(int connection) {
  server_.disconnect(connection);
  connections_.erase(connection);
}

bool world::is_connected(std::string_view client) const {
  return std::ranges::any_of(connections_,
                             [&](const auto& one) { return client.starts_with(one.second); });
}

resp::value world::execute(int connection, const std::string& bytes, const std::string& request,
                           const std::function<void(const resp::value&)>& executed) {
  if (changes() != nullptr) changes()->about_to_execute();
  auto reply = server().execute(connection, bytes);
  if (executed) {
    executed(reply);
  } else if (has_gate()) {
    watch().executed(request);
  }
  for (const int told : server_.take_told()) {
    const auto to =
        std::ranges::find(walkers_, told, [](const auto& w) { return w->connection(); });
    for (auto& push : server_.take_pushes(told)) {
      if (to != walkers_.end()) (*to)->deliver(std::move(push));
    }
  }
  return reply;
}

// ---- faults that concern all

void world::plan_faults() {
  const auto some_time = [this] { return begin + dice_.time_up_to(plan_.fault_phase); };
  if (dice_.chance(20)) at(some_time(), [this] { empty_the_server(); });
  for (auto steps = dice_.chance(20) ? 1 + dice_.up_to(1) : 0; steps > 0; --steps) {
    at(some_time(), [this] { set_the_clock(); });
  }
  if (changes() != nullptr && dice_.chance(20)) {
    at(some_time(), [this] { forget_answers(); });
  }
}

void world::empty_the_server() {
  const auto how = dice_.chance(50) ? fault::flushed : fault::restarted_empty;
  count(how);
  if (how == fault::flushed) {
    server().flush_all();
  } else {
    server().restart_empty();
    connections_.clear();
    know_scripts();
  }
  tell(how);
  for (const auto& one : walkers_) {
    one->disturb();
    if (how == fault::restarted_empty) one->break_connection(false);
  }
}

// It needs memory: what it remembers of changes that were done is gone.
void world::forget_answers() {
  count(fault::evicted);
  for (const auto& key : server().ending_keys()) {
    if (key.starts_with("hf:once:")) server_.evict(key);
  }
  changes()->happened(fault::evicted);
}

void world::set_the_clock() {
  const auto how = dice_.chance(50) ? fault::clock_forward : fault::clock_back;
  count(how);
  const auto size = std::chrono::floor<microseconds>(dice_.time_up_to(longest_step));
  server().step_clock(how == fault::clock_forward ? size : -size);
  tell(how);
  for (const auto& one : walkers_) one->disturb();
}

// A latch once.
void world::tell(fault what) {
  if (has_gate()) {
    watch().happened(what);
  } else {
    changes()->happened(what);
  }
}

// ---- a run

// Also that those who wait are not as many as there are parties, for long.
void world::check_progress() {
  if (now() < looked_at_ + between_looks) return;
  looked_at_ = now();
  std::uint32_t missing = plan_.parties;
  for (const auto& one : walkers_) {
    const auto request = one->waits();
    if (request.empty()) continue;
    const auto bound = one->silence() + slack;
    const auto since = watch().open_since(request);
    if (since && now() - std::max(*since, one->calm_since()) > bound) {
      violated("L: one who can go on does not: " + request);
    }
    if (missing > 0 && now() - one->calm_since() > bound) --missing;
  }
  if (plan_.parties > 0 && missing == 0) violated("L: as many as there are parties wait");
}

void world::check_nothing_left() {
  pass(memory);
  (void)server();
  for (const auto& key : server_.lasting_keys()) {
    const bool is_wanted = changes() != nullptr && changes()->lasts(key);
    if (!key.starts_with("hf:fence:") && !is_wanted) violated("L: left for ever: " + key);
  }
}

gate_outcome world::run() {
  constexpr std::uint64_t most_who_change = 4;
  for (std::uint64_t i = 0; i < plan_.walkers; ++i) {
    const bool changes = this->changes() != nullptr && i < most_who_change;
    walkers_.push_back(std::make_unique<walker>(*this, static_cast<std::uint16_t>(i), changes));
    at(begin + dice_.time_up_to(50ms), [one = walkers_.back().get()] { one->begin(); });
  }
  plan_faults();
  // In the healing phase nobody is silent for longer than the last of the queue may be, once for
  // what came before and once for the next time; but who is frozen.
  const auto each = leasing::ask_bound(plan_.walkers) + slack + plan_.pace * 100ms;
  const auto faults_end = begin + plan_.fault_phase;
  const auto healed = faults_end + (plan_.pace > 1 ? longest_freeze : short_freeze) + 5 * each;
  timeline::run(walkers_, faults_end, healed, [this] { check_progress(); });
  closes_ = true;
  for (const auto& one : walkers_) one->stop();
  if (violation().empty()) {
    timeline::run(walkers_, now(), now() + 60s, [] {});
  }
  if (violation().empty()) check_nothing_left();
  result_.violation = violation();
  result_.trace = trace();
  return result_;
}

namespace {

subject a_latch(world& in) {
  const auto one = std::make_shared<latch_watch>(in);
  return {one, one};
}

subject a_barrier(world& in, std::uint32_t parties) {
  return {std::make_shared<barrier_watch>(in, parties), nullptr};
}

}  // namespace
}  // namespace gates

gate_outcome simulate_latch(std::uint64_t seed, bool crowd) {
  dice dice{seed ^ 0x1a7c4};
  using std::chrono::seconds;
  gates::plan what{
      .seed = seed, .of = gates::a_latch, .walkers = 2 + dice.up_to(3), .fault_phase = seconds{8}};
  if (crowd) what.walkers = 450, what.pace = 50;
  return gates::world{what}.run();
}

// Some runs are slow, and last so long that who is frozen is taken for dead.
gate_outcome simulate_barrier(std::uint64_t seed) {
  dice dice{seed ^ 0xba441e4};
  using std::chrono::seconds;
  const auto parties = static_cast<std::uint32_t>(2 + dice.up_to(2));
  const auto more = dice.chance(50) ? dice.up_to(2) : 0;
  gates::plan what{.seed = seed,
                   .of = [=](auto& in) { return gates::a_barrier(in, parties); },
                   .parties = parties,
                   .walkers = parties + more,
                   .fault_phase = seconds{8}};
  if (dice.chance(5)) what.pace = 100, what.fault_phase = seconds{400};
  return gates::world{what}.run();
}

}  // namespace holdfast::simulation
