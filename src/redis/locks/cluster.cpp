#include "redis/locks/cluster.hpp"

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

#include "redis/locks/asking.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/slots_query.hpp"

namespace holdfast::redis_locks {
namespace {

constexpr int most_redirections = 5;

bool operator==(const net::tcp_endpoint& a, const net::tcp_endpoint& b) noexcept {
  return a.port == b.port && a.host == b.host;
}

}  // namespace

// A master that was learnt of from others.
class cluster::member final : public master, private redis::connection::observer {
 public:
  member(cluster& of, net::tcp_endpoint at)
      : master(session(of, at), of.tuning_, of.helper_, *this, &of.engine_.positions()),
        where(std::move(at)),
        of_(of) {
    if (of_.engine_.options().min_replicas == 0) return;
    auto over = connection.settings();
    over.channel.clear();
    replicas = std::make_unique<replication>(of_.engine_, clock, std::move(over), of_.tuning_,
                                             of_.helper_);
  }

  const net::tcp_endpoint where;

 private:
  static redis::session_settings session(const cluster& of, const net::tcp_endpoint& at) {
    auto settings = of.settings_;
    settings.where = at;
    settings.seeds.clear();
    settings.is_known = true;
    return settings;
  }

  void on_connected(const redis::session_facts& facts) override {
    was_needed_.store(true, std::memory_order_relaxed);
    of_.engine_.on_connected(*this, facts);
  }
  void on_push(resp::value& message, std::uint64_t position) override {
    of_.engine_.on_push(*this, message, position);
  }
  void on_broken() override { of_.engine_.on_broken(*this); }
  // As with one server, but not to a node that was not needed yet.
  bool needs_connection() override {
    return was_needed_.load(std::memory_order_relaxed) && of_.engine_.needs_connection(*this);
  }
  // It has left the cluster, or is a replica now.
  bool is_dispensable() override { return !has_slots.load(std::memory_order_relaxed); }
  void on_not_connected() override { of_.refresh(); }
  bool on_error(redis::request& r, std::string& error) override {
    return of_.on_error(*this, r, error);
  }

  cluster& of_;
  std::atomic<bool> was_needed_{false};
};

cluster::cluster(redis_engine& owner, master& entry, redis::session_settings settings,
                 redis::connection_tuning tuning, net::background_thread& helper)
    : engine_(owner),
      entry_(entry),
      settings_(std::move(settings)),
      tuning_(tuning),
      helper_(helper),
      query_(std::make_unique<slots_query>(*this)) {
  for (auto& slot : slots_) slot.store(&entry, std::memory_order_relaxed);
}

cluster::~cluster() = default;

std::vector<master*> cluster::masters() const {
  std::vector<master*> found;
  for (const auto& slot : slots_) {
    auto* const has = slot.load(std::memory_order_acquire);
    // Slots come in runs.
    if (!found.empty() && found.back() == has) continue;
    if (std::ranges::find(found, has) == found.end()) found.push_back(has);
  }
  return found;
}

slot_set cluster::slots_of(const master& known) const {
  slot_set found;
  for (std::size_t slot = 0; slot < hash_slots; ++slot) {
    found[slot] = slots_[slot].load(std::memory_order_acquire) == &known;
  }
  return found;
}

slot_set cluster::served() {
  const scoped_mutex lock(mutex_);
  return served_;
}

std::vector<cluster::share> cluster::shares() {
  std::vector<share> found;
  std::vector<const master*> owners;
  const auto served = this->served();
  for (std::size_t slot = 0; slot < hash_slots; ++slot) {
    if (!served[slot]) continue;
    const auto* const has = slots_[slot].load(std::memory_order_acquire);
    const auto at = std::ranges::find(owners, has) - owners.begin();
    if (at == std::ssize(owners)) {
      owners.push_back(has);
      found.push_back(
          {net::to_string(net::endpoint{place_of(*has)}), static_cast<std::uint16_t>(slot), 0});
    }
    ++found[static_cast<std::size_t>(at)].slots;
  }
  return found;
}

void cluster::refresh() { query_->start(); }

void cluster::on_connected(master& to, const redis::session_facts& facts) {
  const auto ranges = redis::read_slots(facts.slots, facts.where);
  if (!ranges) return;
  if (&to == &entry_) {
    // Under the name by which the others know it, so that it mostly needs no other connection.
    const auto its_own = std::ranges::find_if(
        *ranges, [&](const auto& range) { return !range.id.empty() && range.id == facts.node_id; });
    const scoped_mutex lock(mutex_);
    entry_at_ = its_own == ranges->end() ? facts.where : its_own->master;
  }
  adopt(*ranges);
}

bool cluster::adopt(const std::vector<redis::slot_range>& ranges) {
  if (ranges.empty()) return false;
  slot_set moved;
  {
    const scoped_mutex lock(mutex_);
    served_.reset();
    entry_.has_slots.store(false, std::memory_order_relaxed);
    for (const auto& one : members_) one->has_slots.store(false, std::memory_order_relaxed);
    for (const auto& range : ranges) {
      auto* const has = at(range.master);
      if (has == nullptr) continue;  // on_error() tells those that need it
      has->has_slots.store(true, std::memory_order_relaxed);
      for (std::size_t slot = range.first; slot <= range.last; ++slot) {
        served_.set(slot);
        if (slots_[slot].exchange(has, std::memory_order_acq_rel) != has) moved.set(slot);
      }
    }
  }
  if (moved.any()) engine_.on_slots_moved(moved);
  return true;
}

master* cluster::find(const net::tcp_endpoint& where) {
  for (const auto& one : members_) {
    if (one->where == where) return one.get();
  }
  // The entry may be another node after it was lost. A node that is asked about replicas must stay
  // the same.
  const bool entry_has_slots = engine_.options().min_replicas == 0;
  return entry_has_slots && entry_at_ == where ? &entry_ : nullptr;
}

master* cluster::at(const net::tcp_endpoint& where) {
  if (auto* const known = find(where)) return known;
  try {
    auto& made = *members_.emplace_back(std::make_unique<member>(*this, where));
    helper_.add(made.connection);
    if (made.replicas != nullptr) helper_.add(made.replicas->attended());
    return &made;
  } catch (const std::system_error&) {
    return nullptr;
  }
}

net::tcp_endpoint cluster::place_of(const master& known) {
  const scoped_mutex lock(mutex_);
  for (const auto& one : members_) {
    if (one.get() == &known) return one->where;
  }
  return entry_at_;
}

std::vector<master*> cluster::all() {
  std::vector<master*> found{&entry_};
  const scoped_mutex lock(mutex_);
  for (const auto& one : members_) found.push_back(one.get());
  return found;
}

std::vector<master*> cluster::new_from_url() {
  std::vector<master*> made;
  const scoped_mutex lock(mutex_);
  for (const auto& seed : settings_.seeds) {
    if (find(seed) != nullptr) continue;
    if (auto* const one = at(seed)) made.push_back(one);
  }
  return made;
}

replication* cluster::replication_at(const net::tcp_endpoint& where) {
  const scoped_mutex lock(mutex_);
  const auto* const there = at(where);
  return there == nullptr ? nullptr : there->replicas.get();
}

bool cluster::on_error(const master& of, redis::request& r, std::string& error) {
  if (error.starts_with("CLUSTERDOWN")) {
    refresh();
    if (served().none()) error = "CLUSTERDOWN no node of the URL knows a master";
  }
  const auto to = redis::read_redirection(error, place_of(of));
  if (!to) return false;
  if (r.count_redirection() > most_redirections) {
    error = "CLUSTERDOWN sent on " + std::to_string(most_redirections) + " times, then " + error;
    return false;
  }
  master* there = nullptr;
  {
    const scoped_mutex lock(mutex_);
    there = at(to->where);
  }
  if (there == nullptr) {
    error = "CLUSTERDOWN no descriptor is left for a connection to " +
            net::to_string(net::endpoint{to->where});
    return false;
  }
  if (to->how == redis::redirection::kind::ask) {
    there->connection.submit(*new asking, r, redis::connection::delivery::prompt);
    return true;
  }
  const bool changed = slots_[to->slot].exchange(there, std::memory_order_acq_rel) != there;
  there->has_slots.store(true, std::memory_order_relaxed);
  there->connection.submit(r, redis::connection::delivery::prompt);
  if (changed) engine_.on_slots_moved(slot_set{}.set(to->slot));
  refresh();
  return true;
}

void cluster::shut_down() {
  // A request that fails at one may be sent again to another.
  for (int round = 0; round < 2; ++round) {
    for (auto* const one : all()) {
      if (one->replicas != nullptr) one->replicas->shut_down();
      one->connection.shut_down();
    }
  }
}

}  // namespace holdfast::redis_locks
