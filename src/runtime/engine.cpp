#include "runtime/engine.hpp"

#include <sys/random.h>

#include <cerrno>
#include <utility>

#include "dialects/holdfast/waiting.hpp"
#include "net/clock.hpp"
#include "net/descriptor.hpp"

namespace holdfast::runtime {
namespace {

template <typename Bits>
Bits random_bits() {
  Bits bits{};
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return bits;
}

redis::connection_tuning with_options(redis::connection_tuning tuning,
                                      const client_options& options) {
  tuning.spin = options.spin;
  return tuning;
}

redis::session_settings with_channel(redis::session_settings session, const key_space& space,
                                     const client_id& id, const client_options& options) {
  if (options.wakeup == wakeup::notification) session.channel = dialects::channel_of(space, id);
  return session;
}

}  // namespace

engine::engine(const redis::session_settings& session, const client_options& options,
               redis::connection_tuning tuning)
    : options_(options),
      space_(options.tenant),
      generation_(net::process_generation()),
      id_(random_bits<std::array<std::uint8_t, 16>>()),
      proofs_(random_bits<siphash_key>()),
      seed_(random_bits<std::uint64_t>()),
      floors_(std::make_unique<std::atomic<substrate::token_major>[]>(redis::hash_slots)),
      only_(with_channel(session, space_, id_, options), with_options(tuning, options), helper_,
            *this, session.asks_slots ? &positions_ : nullptr),
      cluster_(session.asks_slots ? std::make_unique<cluster>(
                                        *this, only_, with_channel(session, space_, id_, options),
                                        with_options(tuning, options), helper_)
                                  : nullptr),
      renewals_(*this, helper_),
      held_(*this, helper_),
      registration_(*this, id_),
      callbacks_(timers_),
      waiting_(*this, id_),
      channels_(*this),
      observed_(*this),
      key_watchers_(*this),
      deadlocks_(options.detect_deadlocks ? std::make_unique<deadlock_watch>(*this, id_) : nullptr),
      hears_(options.wakeup == wakeup::notification) {
  helper_.start({&only_.connection, &timers_, &renewals_, &held_});
  if (options.min_replicas == 0) return;
  only_.replicas = std::make_unique<replication>(*this, only_.clock, session,
                                                 with_options(tuning, options), helper_);
  helper_.add(only_.replicas->attended());
}

engine::~engine() = default;

// First the attempts and releases under way may end; what is left then ends by itself at the
// server, with its lease.
void engine::shut_down() noexcept {
  locals_.revoke_all();
  wait_until_quiet();
  key_watchers_.end();
  registration_.withdraw();
  helper_.stop();
  if (cluster_ != nullptr) cluster_->shut_down();
  if (only_.replicas != nullptr) only_.replicas->shut_down();
  only_.connection.shut_down();
  timers_.shut_down();
  callbacks_.stop();
}

bool engine::is_in_its_process() const noexcept { return generation_ == net::process_generation(); }

request_id engine::next_request(bool revocable) noexcept {
  return {id_, requests_.fetch_add(1, std::memory_order_relaxed) + 1, revocable};
}

std::uint64_t engine::next_seed() noexcept { return seed_.fetch_add(1, std::memory_order_relaxed); }

std::vector<master*> engine::masters() {
  return cluster_ == nullptr ? std::vector<master*>{&only_} : cluster_->masters();
}

substrate::token_major engine::floor(std::uint16_t slot) const noexcept {
  return floors_[slot].load(std::memory_order_relaxed);
}

void engine::raise_floor(std::uint16_t slot, substrate::token_major seen) noexcept {
  auto known = floors_[slot].load(std::memory_order_relaxed);
  while (known < seen && !floors_[slot].compare_exchange_weak(known, seen)) {
  }
}

void engine::ended() noexcept {
  if (under_way_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard lock(quiet_guard_);
  quiet_.notify_all();
}

void engine::wait_until_quiet() noexcept {
  std::unique_lock lock(quiet_guard_);
  quiet_.wait_for(lock, options_.response_timeout,
                  [this] { return under_way_.load(std::memory_order_acquire) == 0; });
}

// One that does not say who it is counts as another.
void engine::doubt_if_other_server(master& to, const redis::session_facts& facts) {
  const bool is_the_same = !facts.identity.empty() && facts.identity == to.identity;
  to.identity = facts.identity;
  if (!std::exchange(to.was_connected, true) || is_the_same) return;
  if (options_.quarantine > milliseconds{0}) {
    const auto ends = net::now() + options_.quarantine;
    quarantine_ends_.store(ends.time_since_epoch().count(), std::memory_order_relaxed);
  }
  timers_.tell_of_other_server(slots_of(to));
}

void engine::on_connected(const redis::session_facts& facts) { on_connected(only_, facts); }
void engine::on_push(resp::value& message, std::uint64_t position) {
  on_push(only_, message, position);
}
void engine::on_broken() { on_broken(only_); }

void engine::on_not_connected() {
  if (cluster_ != nullptr) cluster_->refresh();
}

bool engine::on_error(redis::request& r, std::string& error) {
  return cluster_ != nullptr && cluster_->on_error(only_, r, error);
}

void engine::on_connected(master& to, const redis::session_facts& facts) {
  hears_.store(facts.subscribed, std::memory_order_relaxed);
  to.learn(facts);
  if (cluster_ != nullptr) cluster_->on_connected(to, facts);
  doubt_if_other_server(to, facts);
}

void engine::on_push(const master& from, resp::value& message, std::uint64_t position) {
  if (waiting_.on_push(from, message, position)) return;
  if (channels_.on_push(message)) return;
  observed_.on_push(message);
}

void engine::on_broken(const master& from) {
  if (cluster_ != nullptr) cluster_->refresh();
  ask_for_what_was_missed(slots_of(from));
}

// To where what was not replicated did not come, if the old master has died.
void engine::on_slots_moved(const redis::slot_set& which) {
  timers_.tell_of_other_server(which);
  ask_for_what_was_missed(which);
}

redis::slot_set engine::slots_of(const master& known) const {
  return cluster_ == nullptr ? redis::slot_set{}.set() : cluster_->slots_of(known);
}

// Messages may have been lost.
void engine::ask_for_what_was_missed(const redis::slot_set& of) {
  waiting_.on_broken(of);
  channels_.on_broken(of);
  observed_.on_broken(of);
}

}  // namespace holdfast::runtime
