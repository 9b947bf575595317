#include "redis/locks/redis_engine.hpp"

#include <utility>

#include "base/random_bits.hpp"
#include "net/clock.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

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

redis_engine::redis_engine(const redis::session_settings& session, const client_options& options,
                           redis::connection_tuning tuning)
    : runtime::engine(options),
      proofs_(random_bits<siphash_key>()),
      floors_(std::make_unique<std::atomic<substrate::token_major>[]>(hash_slots)),
      logins_(session.login.source),
      only_(with_channel(session, space(), id(), options), with_options(tuning, options), helper(),
            *this, session.asks_slots ? &positions_ : nullptr),
      cluster_(session.asks_slots ? std::make_unique<cluster>(
                                        *this, only_, with_channel(session, space(), id(), options),
                                        with_options(tuning, options), helper())
                                  : nullptr),
      renewals_(*this, helper()),
      held_(*this, helper()),
      registration_(*this, id()),
      notes_(*this),
      waiting_(*this, id()),
      channels_(*this),
      observed_(*this),
      key_watchers_(*this),
      deadlocks_(options.detect_deadlocks ? std::make_unique<deadlock_watch>(*this, id())
                                          : nullptr),
      trail_(options.audit.empty() ? nullptr
                                   : std::make_unique<redis_locks::trail>(*this, helper())),
      hears_(options.wakeup == wakeup::notification) {
  if (logins_ != nullptr) logins_->join(*this);
  helper().start({&only_.connection, &timers(), &renewals_, &held_});
  if (trail_ != nullptr) helper().add(*trail_);
  if (options.min_replicas == 0) return;
  only_.replicas = std::make_unique<replication>(*this, only_.clock, session,
                                                 with_options(tuning, options), helper());
  helper().add(only_.replicas->attended());
}

// Its thread uses members that are destroyed afterwards.
redis_engine::~redis_engine() {
  if (logins_ != nullptr) logins_->leave(*this);
  helper().stop();
}

// First the attempts and releases under way may end; locks that are left then end by themselves at
// the server, with their leases.
std::shared_ptr<runtime::lock_driver> redis_engine::make_driver(
    std::shared_ptr<const lock_spec> spec, leasing::patience patience, bool may_stop,
    local_lock* local) {
  return std::make_shared<redis_lock>(*this, std::move(spec), patience, may_stop, local);
}

void redis_engine::shut_down() noexcept {
  const auto deadline = net::now() + options().response_timeout;
  local_locks().revoke_all();
  if (trail_ != nullptr) trail_->end();
  wait_until_quiet();
  key_watchers_.end();
  registration_.withdraw();
  if (logins_ != nullptr) logins_->close(deadline);
  helper().stop();
  if (cluster_ != nullptr) cluster_->shut_down();
  if (only_.replicas != nullptr) only_.replicas->shut_down();
  only_.connection.shut_down();
  timers().shut_down();
  callbacks().stop();
}

std::vector<master*> redis_engine::masters() {
  return cluster_ == nullptr ? std::vector<master*>{&only_} : cluster_->masters();
}

substrate::token_major redis_engine::floor(std::uint16_t slot) const noexcept {
  return floors_[slot].load(std::memory_order_relaxed);
}

void redis_engine::raise_floor(std::uint16_t slot, substrate::token_major seen) noexcept {
  auto known = floors_[slot].load(std::memory_order_relaxed);
  while (known < seen && !floors_[slot].compare_exchange_weak(known, seen)) {
  }
}

// One that does not say who it is counts as another.
void redis_engine::doubt_if_other_server(master& to, const redis::session_facts& facts) {
  const bool is_the_same = !facts.identity.empty() && facts.identity == to.identity;
  to.identity = facts.identity;
  if (!std::exchange(to.was_connected, true)) return;
  report({.type = event_type::reconnected, .server = facts.address});
  if (is_the_same) return;
  if (!facts.identity.empty()) report({.type = event_type::failed_over, .server = facts.address});
  if (options().quarantine > milliseconds{0}) {
    const auto ends = net::now() + options().quarantine;
    quarantine_ends_.store(ends.time_since_epoch().count(), std::memory_order_relaxed);
  }
  timers().tell_of_doubt(slots_of(to));
}

void redis_engine::on_connected(const redis::session_facts& facts) { on_connected(only_, facts); }
void redis_engine::on_push(resp::value& message, std::uint64_t position) {
  on_push(only_, message, position);
}
void redis_engine::on_broken() { on_broken(only_); }

void redis_engine::on_not_connected() {
  if (cluster_ != nullptr) cluster_->refresh();
}

bool redis_engine::on_error(redis::request& r, std::string& error) {
  return cluster_ != nullptr && cluster_->on_error(only_, r, error);
}

void redis_engine::on_login_failed(const std::string& server, const std::string& why) {
  report({.type = event_type::login_failed,
          .error = errc::authentication,
          .server = server,
          .detail = why});
}

void redis_engine::on_connected(master& to, const redis::session_facts& facts) {
  hears_.store(facts.subscribed, std::memory_order_relaxed);
  to.learn(facts);
  if (cluster_ != nullptr) cluster_->on_connected(to, facts);
  doubt_if_other_server(to, facts);
}

void redis_engine::on_push(const master& from, resp::value& message, std::uint64_t position) {
  if (waiting_.on_push(from, message, position)) return;
  if (channels_.on_push(message)) return;
  observed_.on_push(message);
}

void redis_engine::on_broken(const master& from) {
  if (cluster_ != nullptr) cluster_->refresh();
  ask_for_what_was_missed(slots_of(from));
}

// To where what was not replicated did not come, if the old master has died.
void redis_engine::on_slots_moved(const slot_set& which) {
  timers().tell_of_doubt(which);
  ask_for_what_was_missed(which);
}

slot_set redis_engine::slots_of(const master& known) const {
  return cluster_ == nullptr ? slot_set{}.set() : cluster_->slots_of(known);
}

// Messages may have been lost.
void redis_engine::ask_for_what_was_missed(const slot_set& of) {
  waiting_.on_broken(of);
  channels_.on_broken(of);
  observed_.on_broken(of);
}

redis_engine& engine_of(runtime::client_core& core) {
  if (auto* const here = runtime::find_engine<redis_engine>(core.engine())) return *here;
  throw failure{errc::unsupported, "only a server can do this, and the client '" + core.url() +
                                       "' keeps its locks in this process"};
}

}  // namespace holdfast::redis_locks
