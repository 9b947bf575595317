#include "simulation/world.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "dialects/catalog.hpp"
#include "dialects/holdfast/waiting.hpp"
#include "lease/acquire_machine.hpp"
#include "lease/hold_machine.hpp"
#include "lease/release_machine.hpp"
#include "lease/server_clock.hpp"
#include "simulation/server/simulated_server.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds response_timeout{200};
constexpr monotonic_time begin_of_time{1h};
constexpr nanoseconds fault_phase = 8s, healing_phase = 150s;

class member;

class world {
 public:
  explicit world(std::uint64_t seed) : random_(seed) {}

  outcome run();

  monotonic_time now() const noexcept { return now_; }
  bool faults() const noexcept { return now_ < begin_of_time + fault_phase; }
  std::uint64_t up_to(std::uint64_t most) { return random_() % (most + 1); }
  bool chance(std::uint64_t percent) { return random_() % 100 < percent; }
  nanoseconds time_up_to(nanoseconds most) {
    return nanoseconds(up_to(static_cast<std::uint64_t>(most.count())));
  }

  void at(monotonic_time when, std::function<void()> what) {
    events_.push({std::max(when, now_), ++order_, std::move(what)});
  }

  simulated_server& server() noexcept { return server_; }
  resp::value execute(int connection, const std::string& bytes);
  void note(std::uint64_t what) { result_.trace = (result_.trace ^ what) * 0x100000001b3; }
  void granted(const member& who, dialects::token_major token);
  void lost() { ++result_.losses; }
  void violated(const std::string& what);
  bool over() const noexcept { return !result_.violation.empty(); }

 private:
  struct event {
    monotonic_time when;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const event& other) const noexcept {
      return std::pair{other.when, other.order} < std::pair{when, order};
    }
  };

  void empty_the_server();

  std::mt19937_64 random_;
  monotonic_time now_ = begin_of_time;
  monotonic_time server_at_ = begin_of_time;
  simulated_server server_;
  std::priority_queue<event> events_;
  std::uint64_t order_ = 0;
  std::vector<std::unique_ptr<member>> members_;
  dialects::token_major newest_ = 0;
  monotonic_time exclusive_from_{};  // the server was emptied: leases of before may still run
  outcome result_;
};

// One client with one lock: acquires it, holds it for a while, releases it, again and again.
class member {
 public:
  member(world& of, std::uint8_t number, const lock_key& key)
      : world_(of), id_({number}), key_(key) {}

  void begin();
  void hear(const resp::value& push);
  bool believes() const { return holding_ && holding_->held(world_.now()); }
  bool served() const noexcept { return served_; }
  int connection() const noexcept { return connection_; }
  void disconnected();
  std::string name() const { return std::string{id_.text().substr(0, 4)}; }

  // In the order of sending: what was answered first is heard first.
  void deliver(std::function<void()> what) {
    heard_until_ = std::max(heard_until_, world_.now() + world_.time_up_to(2ms));
    later(heard_until_, std::move(what));
  }

 private:
  using recipe = dialects::recipe;
  enum class use { request, renewal };

  // A frozen process does nothing until it runs again.
  void later(monotonic_time when, std::function<void()> what) {
    world_.at(when, [this, what = std::move(what)] {
      if (world_.now() < frozen_until_) return later(frozen_until_, what);
      what();
    });
  }

  moment present() const { return {world_.now(), leasing::far_future}; }
  void connect();
  void obey(const leasing::step& step);
  void obey(const leasing::release_step& step);
  void obey(const leasing::hold_step& step);
  void wake_at(monotonic_time when);
  void send(leasing::ask what, bool resend);
  void send_renewal();
  void transmit(use what, const std::string& bytes);
  void answered(use what, std::uint64_t flight, monotonic_time sent_at, resp::value reply);
  void missing(use what, std::uint64_t flight);
  void hold(const leasing::acquire_outcome& got);
  void release();
  void rest();

  world& world_;
  const client_id id_;
  const lock_key& key_;
  const recipe& recipe_ = dialects::native_mutex(fencing::on);
  std::uint64_t requests_ = 0;
  leasing::server_clock clock_;
  dialects::token_major floor_ = 0;
  int connection_ = -1;
  dialects::claim claim_{.owner = request_id{id_, 0}};
  std::optional<leasing::acquire_machine> acquiring_;
  std::optional<leasing::hold_machine> holding_;
  std::optional<leasing::release_machine> releasing_;
  std::uint64_t flights_ = 0;
  std::uint64_t in_flight_[2] = {0, 0};  // of each use; 0: none
  std::uint64_t timer_ = 0, tenure_ = 0;
  monotonic_time heard_until_{}, frozen_until_{}, sent_at_{};
  bool served_ = false;
};

// ---- the world ---------------------------------------------------------------------------------

resp::value world::execute(int connection, const std::string& bytes) {
  server_.advance(std::chrono::floor<microseconds>(now_ - server_at_));
  server_at_ += std::chrono::floor<microseconds>(now_ - server_at_);
  ++result_.commands;
  auto reply = server_.execute(connection, bytes);
  for (const auto& one : members_) {
    if (one->connection() < 0) continue;
    for (auto& push : server_.take_pushes(one->connection())) {
      if (faults() && chance(5)) continue;
      auto* const who = one.get();
      const int over = who->connection();
      who->deliver([who, over, push = std::move(push)] {
        if (who->connection() == over) who->hear(push);
      });
    }
  }
  return reply;
}

void world::granted(const member& who, dialects::token_major token) {
  ++result_.grants;
  note(token);
  for (const auto& one : members_) {
    if (one.get() != &who && one->believes() && now_ >= exclusive_from_) {
      violated("S1: " + who.name() + " holds while " + one->name() + " believes that it does");
    }
  }
  if (token <= newest_) violated("S2: token " + std::to_string(token) + " is not above the last");
  newest_ = std::max(newest_, token);
}

void world::violated(const std::string& what) {
  if (over()) return;
  const auto ms = std::chrono::floor<milliseconds>(now_ - begin_of_time).count();
  result_.violation = what + ", at " + std::to_string(ms) + " ms";
}

void world::empty_the_server() {
  if (!faults()) return;
  if (chance(50)) {
    server_.flush_all();
  } else {
    for (const auto& one : members_) one->disconnected();
    server_.restart_empty();
  }
  exclusive_from_ = now_ + 4s;
  note(77);
}

outcome world::run() {
  const lock_key key{"simulated"};
  const auto count = 2 + up_to(3);
  for (std::uint64_t i = 0; i < count; ++i) {
    members_.push_back(std::make_unique<member>(*this, static_cast<std::uint8_t>(i + 1), key));
    at(begin_of_time + time_up_to(50ms), [one = members_.back().get()] { one->begin(); });
  }
  if (chance(20)) at(begin_of_time + time_up_to(fault_phase), [this] { empty_the_server(); });
  const auto end = begin_of_time + fault_phase + healing_phase;
  const auto all_served = [this] {
    return !faults() && std::ranges::all_of(members_, [](const auto& m) { return m->served(); });
  };
  while (!events_.empty() && !over() && !all_served()) {
    const event next = events_.top();
    events_.pop();
    now_ = next.when;
    if (now_ > end) break;
    note(static_cast<std::uint64_t>(now_.time_since_epoch().count()));
    next.what();
  }
  for (const auto& one : members_) {
    if (!over() && !one->served()) violated("L2: " + one->name() + " was never served");
  }
  return result_;
}

// ---- a member: asking --------------------------------------------------------------------------

void member::begin() {
  ++tenure_;
  served_ = false;
  connect();
  claim_ = {.key = &key_,
            .owner = request_id{id_, ++requests_},
            .lease = milliseconds(200 + world_.up_to(1800)),
            .floor = floor_,
            .waits = true};
  const bool patient = !world_.faults() || world_.chance(70);
  const leasing::patience patience{
      .waits = true,
      .give_up_at = patient ? monotonic_time::max() : world_.now() + world_.time_up_to(2s)};
  releasing_.reset();
  acquiring_.emplace(
      recipe_, claim_, patience,
      leasing::acquire_machine::settings{.response_timeout = response_timeout, .seed = requests_});
  obey(acquiring_->start(present()));
  if (world_.faults() && world_.chance(15)) {
    later(world_.now() + world_.time_up_to(500ms), [this, mine = tenure_] {
      if (mine == tenure_ && acquiring_) obey(acquiring_->on_stop(present()));
    });
  }
}

void member::connect() {
  if (connection_ >= 0) return;
  connection_ = world_.server().connect();
  std::string bytes;
  for (const auto* const script : dialects::catalog().front().scripts) {
    bytes.clear();
    resp::writer load{bytes};
    load.command(3);
    load.arg("SCRIPT");
    load.arg("LOAD");
    load.arg(script->text);
    (void)world_.server().execute(connection_, bytes);
  }
  bytes.clear();
  resp::writer subscribe{bytes};
  subscribe.command(2);
  subscribe.arg("SUBSCRIBE");
  subscribe.arg(dialects::channel_of(id_));
  (void)world_.execute(connection_, bytes);
  bytes.clear();
  resp::writer ask{bytes};
  ask.command(1);
  ask.arg("TIME");
  const auto time = world_.execute(connection_, bytes);
  const auto seconds = std::stoll(time.items.at(0).text);
  const auto micros = std::stoll(time.items.at(1).text);
  clock_.sample(world_.now(), world_.now(),
                server_time{microseconds{seconds * 1'000'000 + micros}});
}

// What was on its way to us is lost. Whoever waits asks again.
void member::disconnected() {
  if (connection_ < 0) return;
  connection_ = -1;
  later(world_.now() + world_.time_up_to(20ms), [this, mine = tenure_] {
    if (mine == tenure_ && acquiring_) obey(acquiring_->on_woken(present()));
  });
}

void member::obey(const leasing::step& step) {
  if (step.learned) clock_.sample(sent_at_, world_.now(), *step.learned);
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (step.done && !step.done->code) return hold(*step.done);
  if (step.finished) rest();
}

void member::wake_at(monotonic_time when) {
  later(when, [this, mine = ++timer_, tenure = tenure_] {
    if (mine != timer_ || tenure != tenure_) return;
    if (holding_) return obey(holding_->on_timer(world_.now()));
    if (releasing_) return obey(releasing_->on_timer(world_.now()));
    if (acquiring_) obey(acquiring_->on_timer(present()));
  });
}

void member::hear(const resp::value& push) {
  const auto said = dialects::read_message(id_, push.items.at(2).text);
  if (!said || !acquiring_) return;
  const auto* const grant = std::get_if<dialects::handed_over>(&*said);
  if (grant == nullptr || grant->request != requests_) return;
  const auto granted_at = clock_.earliest(grant->at);
  obey(acquiring_->on_handed_over({grant->major, grant->claim}, *granted_at, present()));
}

void member::send(leasing::ask what, bool resend) {
  if (acquiring_) claim_ = acquiring_->claim();
  connect();
  std::string bytes;
  resp::writer out{bytes};
  const moment sent{world_.now(), clock_.estimate(world_.now())};
  if (what == leasing::ask::acquire) {
    recipe_.write_acquire(claim_, resend, leasing::not_after(sent, response_timeout), out);
  } else if (what == leasing::ask::release) {
    recipe_.write_release(claim_, out);
  } else {
    recipe_.write_withdraw(claim_, out);
  }
  sent_at_ = world_.now();
  transmit(use::request, bytes);
}

// Lost on the way, executed unheard, executed late, or as it should be.
void member::transmit(use what, const std::string& bytes) {
  const auto flight = in_flight_[static_cast<int>(what)] = ++flights_;
  const auto sent_at = world_.now();
  const auto fate = world_.faults() ? world_.up_to(99) : 99;
  const bool breaks = fate < 12;
  if (fate >= 4) {
    const auto delay = fate < 8 ? world_.time_up_to(2 * response_timeout) : world_.time_up_to(2ms);
    world_.at(sent_at + delay, [this, what, bytes, flight, sent_at, breaks, over = connection_] {
      // A late copy comes over a connection that its sender has given up.
      const bool alive = over == connection_ && !breaks;
      const int by = alive ? over : world_.server().connect();
      auto reply = world_.execute(by, bytes);
      if (!alive) return world_.server().disconnect(by);
      deliver([this, what, flight, sent_at, reply = std::move(reply)]() mutable {
        answered(what, flight, sent_at, std::move(reply));
      });
    });
  }
  if (!breaks) {
    return later(sent_at + response_timeout, [this, what, flight] { missing(what, flight); });
  }
  later(sent_at + world_.time_up_to(response_timeout), [this, what, flight] {
    const int old = std::exchange(connection_, -1);
    if (old >= 0) world_.server().disconnect(old);
    missing(what, flight);
    missing(what == use::request ? use::renewal : use::request,
            in_flight_[what == use::request ? 1 : 0]);
  });
}

void member::answered(use what, std::uint64_t flight, monotonic_time sent_at, resp::value reply) {
  auto& current = in_flight_[static_cast<int>(what)];
  if (current != flight) return;
  current = 0;
  if (what == use::renewal) {
    if (!holding_) return;
    const auto verdict = recipe_.read_renew(reply, 0);
    if (const auto* late = std::get_if<dialects::late>(&verdict)) {
      clock_.sample(sent_at, world_.now(), late->now);
    }
    return obey(holding_->on_renewed(verdict, sent_at, world_.now()));
  }
  if (releasing_) return obey(releasing_->on_reply(reply, world_.now()));
  if (acquiring_) obey(acquiring_->on_reply(reply, sent_at, present()));
}

void member::missing(use what, std::uint64_t flight) {
  if (flight == 0 || in_flight_[static_cast<int>(what)] != flight) return;
  in_flight_[static_cast<int>(what)] = 0;
  const auto how = leasing::missing::unknown;
  if (what == use::renewal) {
    if (holding_) obey(holding_->on_missing(world_.now()));
  } else if (releasing_) {
    obey(releasing_->on_missing(how, world_.now()));
  } else if (acquiring_) {
    obey(acquiring_->on_missing(how, {errc::unavailable, "lost"}, present()));
  }
}

// ---- a member: holding and releasing -----------------------------------------------------------

void member::hold(const leasing::acquire_outcome& got) {
  claim_ = acquiring_->claim();
  claim_.granted = got.grant.major;
  floor_ = std::max(floor_, got.grant.major);
  acquiring_.reset();
  world_.granted(*this, got.grant.major);
  served_ = true;
  holding_.emplace(claim_.lease, true, got.grant.ttl, got.granted_at, got.deadline);
  obey(holding_->start());
  if (world_.faults() && world_.chance(10)) frozen_until_ = world_.now() + world_.time_up_to(3s);
  later(world_.now() + world_.time_up_to(world_.chance(80) ? 5ms : 3s), [this, mine = tenure_] {
    if (mine == tenure_ && holding_) release();
  });
}

void member::obey(const leasing::hold_step& step) {
  if (step.renew) send_renewal();
  if (step.wake_at) wake_at(*step.wake_at);
  if (!step.lost) return;
  world_.lost();
  if (believes()) world_.violated("S4: a lost lease says that it is held");
}

void member::send_renewal() {
  connect();
  std::string bytes;
  resp::writer out{bytes};
  const dialects::claim* const only = &claim_;
  const moment sent{world_.now(), clock_.estimate(world_.now())};
  recipe_.write_renew({&only, 1}, leasing::not_after(sent, response_timeout), out);
  transmit(use::renewal, bytes);
}

void member::release() {
  const auto deadline = holding_->deadline();
  holding_->on_released();
  holding_.reset();
  releasing_.emplace(recipe_, claim_, deadline, requests_);
  obey(releasing_->start(world_.now()));
}

void member::obey(const leasing::release_step& step) {
  if (step.wake_at) wake_at(*step.wake_at);
  if (step.send != leasing::ask::nothing) send(step.send, step.resend);
  if (step.finished) rest();
}

// In the end once is enough for each.
void member::rest() {
  acquiring_.reset();
  releasing_.reset();
  const bool enough = served_ && !world_.faults();
  ++tenure_;
  if (enough) return;
  later(world_.now() + world_.time_up_to(20ms), [this] { begin(); });
}

}  // namespace

outcome simulate(std::uint64_t seed) { return world{seed}.run(); }

}  // namespace holdfast::simulation
