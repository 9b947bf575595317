#include "redis/locks/channels.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/lock_key.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::redis_locks {
namespace {

// A connection that speaks RESP2 can do nothing else once it listens: it is left alone.
void write(const redis_engine& owner, std::string_view what, std::string_view channel,
           resp::writer& out) {
  if (!owner.hears()) return dialects::write_nothing(out);
  out.command(2);
  out.arg(what);
  out.arg(channel);
}

}  // namespace

// Both own themselves until answered.
class channels::subscription final : public redis::request {
 public:
  subscription(channels& of, std::string to, bool sharded)
      : request(sharded ? answered_by::ssubscribe : answered_by::subscribe),
        of_(of),
        to_(std::move(to)),
        sharded_(sharded) {}
  void write(resp::writer& out, monotonic_time) override {
    redis_locks::write(of_.engine_, sharded_ ? "SSUBSCRIBE" : "SUBSCRIBE", to_, out);
  }
  void on_reply(resp::value& reply) override {
    const std::unique_ptr<subscription> self(this);
    of_.on_answered(to_, reply);
  }
  void on_failed(no_answer, const redis::breakdown&) override {
    const std::unique_ptr<subscription> self(this);
    of_.on_failed(to_);
  }

 private:
  channels& of_;
  const std::string to_;
  const bool sharded_;
};

// A server ends a subscription to a sharded channel by itself when the slot has been moved, and
// then refuses to do it again.
class channels::parting final : public redis::request {
 public:
  parting(const redis_engine& owner, std::string from, bool sharded)
      : request(sharded ? answered_by::time : answered_by::unsubscribe),
        engine_(owner),
        from_(std::move(from)),
        sharded_(sharded) {}
  void write(resp::writer& out, monotonic_time) override {
    if (!sharded_) return redis_locks::write(engine_, "UNSUBSCRIBE", from_, out);
    if (engine_.hears()) redis_locks::write(engine_, "SUNSUBSCRIBE", from_, out);
    out.command(1);
    out.arg("TIME");
  }
  void on_reply(resp::value&) override { delete this; }
  void on_failed(no_answer, const redis::breakdown&) override { delete this; }

 private:
  const redis_engine& engine_;
  const std::string from_;
  const bool sharded_;
};

channels::channels(redis_engine& owner) : audiences(owner.timers()), engine_(owner) {}

bool channels::join(const std::string& name, kind what, const std::shared_ptr<redis_lock>& who) {
  const scoped_mutex lock(mutex_);
  channel_audience unheard;
  unheard.slot = hash_slot(name);
  unheard.is_a = what;
  auto& wanted = all_.try_emplace(name, std::move(unheard)).first->second;
  const bool is_new = wanted.admit(who);
  if (wanted.is == state::off && engine_.hears()) open(name, wanted);
  return is_new && wanted.is == state::on;
}

// Under the mutex, so that commands are sent in the order of the decisions.
void channels::open(const std::string& name, channel_audience& what) {
  what.is = state::asking;
  ++open_;
  listen(what, &engine_.connection(what.slot));
  what.at->submit(*new subscription{*this, name, is_sharded(what)},
                  redis::connection::delivery::prompt);
}

void channels::close(channel_audience& what, state now) {
  if (what.at != nullptr) --open_;
  listen(what, nullptr);
  what.is = now;
}

void channels::listen(channel_audience& what, redis::connection* to) {
  if (what.at == to) return;
  if (what.is_a != kind::ours) {
    if (what.at != nullptr) what.at->unlisten(nullptr);
    if (to != nullptr) to->listen(nullptr);
  }
  what.at = to;
}

void channels::on_answered(const std::string& name, const resp::value& reply) {
  std::vector<std::shared_ptr<redis_lock>> told;
  {
    const scoped_mutex lock(mutex_);
    const auto found = all_.find(name);
    if (found == all_.end() || found->second.is != state::asking) return;
    auto& answered = found->second;
    if (!reply.is(resp::type::push)) {
      // Before Redis 7 the layout's own library listens to the messages for all nodes as well.
      const bool is_unknown = reply.text.starts_with("ERR unknown command");
      const bool again = is_unknown && answered.is_a == kind::in_slot;
      const bool may_change = engine_.is_cluster() && !is_unknown &&
                              resp::classify(reply.text).code != errc::permission_denied;
      close(answered, may_change || again ? state::off : state::refused);
      if (!again) return;
      answered.is_a = kind::to_all_nodes;
      open(name, answered);
      return;
    }
    // It may have been sent on to where the slot is now.
    listen(answered, &engine_.connection(answered.slot));
    answered.is = state::on;
    told = answered.members;
  }
  for (const auto& one : told) one->on_tuned_in(true);
}

void channels::on_failed(const std::string& name) {
  const scoped_mutex lock(mutex_);
  const auto found = all_.find(name);
  if (found == all_.end() || found->second.is != state::asking) return;
  close(found->second, state::off);
}

bool channels::on_push(const resp::value& message) {
  if (open_.load(std::memory_order_relaxed) == 0) return false;
  if (message.items.size() != 3) return false;
  const auto& what = message.items[0].text;
  if (what == "message" || what == "smessage") return on_message(message.items[1].text);
  return what == "sunsubscribe" && on_ended(message.items[1].text);
}

bool channels::on_message(const std::string& name) {
  std::vector<std::shared_ptr<redis_lock>> told;
  {
    const scoped_mutex lock(mutex_);
    const auto found = all_.find(name);
    if (found == all_.end()) return false;
    told = found->second.members;
  }
  for (const auto& one : told) one->on_woken();
  return true;
}

// The server has ended a subscription, because the slot has been moved; or it answers an earlier
// parting, and then the channel has gone or is asked for again.
bool channels::on_ended(const std::string& name) {
  std::vector<std::shared_ptr<redis_lock>> told;
  {
    const scoped_mutex lock(mutex_);
    const auto found = all_.find(name);
    if (found == all_.end()) return false;
    if (found->second.is != state::on) return true;
    close(found->second, state::off);
    told = found->second.members;
  }
  for (const auto& one : told) one->on_tuned_in(false);
  return true;
}

// Nobody listens on the next connection: each waiter asks again, and then joins again.
void channels::on_broken(const slot_set& of) {
  std::vector<std::shared_ptr<redis_lock>> told;
  {
    const scoped_mutex lock(mutex_);
    for (auto& [name, one] : all_) {
      if (!of[one.slot]) continue;
      close(one, state::off);
      told.insert(told.end(), one.members.begin(), one.members.end());
    }
    std::erase_if(
        all_, [&](const auto& one) { return of[one.second.slot] && one.second.members.empty(); });
  }
  for (const auto& one : told) one->on_tuned_in(false);
}

// While its subscription is under way it is left alone: the answer would be taken for that of the
// next one.
bool channels::end(const std::string& name, channel_audience& unused) {
  if (unused.is == state::asking) return false;
  if (unused.is == state::on) {
    unused.at->submit(*new parting{engine_, name, is_sharded(unused)},
                      redis::connection::delivery::lazy);
  }
  close(unused, state::off);
  return true;
}

}  // namespace holdfast::redis_locks
