#include "runtime/channels.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "runtime/engine.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {
namespace {

// For so long somebody listens on after the last who waited has left.
constexpr milliseconds linger{1000};

// A connection that speaks RESP2 can do nothing else once it listens: it is left alone.
void write(const engine& owner, std::string_view what, std::string_view channel,
           resp::writer& out) {
  if (!owner.hears()) {
    out.command(1);
    return out.arg("PING");
  }
  out.command(2);
  out.arg(what);
  out.arg(channel);
}

}  // namespace

// Both own themselves until answered.
class channels::subscription final : public redis::request {
 public:
  subscription(channels& of, std::string to)
      : request(answered_by::message), of_(of), to_(std::move(to)) {}
  void write(resp::writer& out, monotonic_time) override {
    runtime::write(of_.engine_, "SUBSCRIBE", to_, out);
  }
  void on_reply(resp::value& reply) override {
    const std::unique_ptr<subscription> self(this);
    of_.on_answered(to_, reply.is(resp::type::push) ? state::on : state::refused);
  }
  void on_failed(redis::fate, const redis::breakdown&) override {
    const std::unique_ptr<subscription> self(this);
    of_.on_answered(to_, state::off);
  }

 private:
  channels& of_;
  const std::string to_;
};

class channels::parting final : public redis::request {
 public:
  parting(const engine& owner, std::string from)
      : request(answered_by::message), engine_(owner), from_(std::move(from)) {}
  void write(resp::writer& out, monotonic_time) override {
    runtime::write(engine_, "UNSUBSCRIBE", from_, out);
  }
  void on_reply(resp::value&) override { delete this; }
  void on_failed(redis::fate, const redis::breakdown&) override { delete this; }

 private:
  const engine& engine_;
  const std::string from_;
};

bool channels::join(const std::string& name, const std::shared_ptr<tenure>& who) {
  const scoped_mutex lock(mutex_);
  auto& wanted = channels_[name];
  const bool is_new = std::ranges::find(wanted.members, who) == wanted.members.end();
  if (is_new) wanted.members.push_back(who);
  if (wanted.is == state::off && engine_.hears()) open(name, wanted);
  return is_new && wanted.is == state::on;
}

// There is one: such locks are refused in a cluster.
redis::connection& channels::connection() noexcept { return engine_.connection(0); }

// Under the mutex, so that what is sent last is what was decided last.
void channels::open(const std::string& name, channel& what) {
  what.is = state::asking;
  ++open_;
  connection().listen(nullptr);
  connection().submit(*new subscription{*this, name}, redis::connection::delivery::prompt);
}

void channels::close(channel& what, state now) {
  if (what.is == state::asking || what.is == state::on) {
    --open_;
    connection().unlisten(nullptr);
  }
  what.is = now;
}

void channels::on_answered(const std::string& name, state now) {
  std::vector<std::shared_ptr<tenure>> told;
  {
    const scoped_mutex lock(mutex_);
    const auto found = channels_.find(name);
    if (found == channels_.end() || found->second.is != state::asking) return;
    if (now != state::on) return close(found->second, now);
    found->second.is = now;
    told = found->second.members;
  }
  for (const auto& one : told) one->on_tuned_in(true);
}

void channels::leave(const std::string& name, const tenure& who) {
  const scoped_mutex lock(mutex_);
  const auto found = channels_.find(name);
  if (found == channels_.end()) return;
  auto& left = found->second;
  std::erase_if(left.members, [&](const auto& one) { return one.get() == &who; });
  if (!left.members.empty()) return;
  left.unused_since = net::now();
  if (!std::exchange(timer_runs_, true)) {
    engine_.timers().arm(*this, left.unused_since + linger);
  }
}

bool channels::on_push(const resp::value& message) {
  if (open_.load(std::memory_order_relaxed) == 0) return false;
  if (message.items.size() != 3 || message.items[0].text != "message") return false;
  std::vector<std::shared_ptr<tenure>> told;
  {
    const scoped_mutex lock(mutex_);
    const auto found = channels_.find(message.items[1].text);
    if (found == channels_.end()) return false;
    told = found->second.members;
  }
  for (const auto& one : told) one->on_woken();
  return true;
}

// What was said since is lost, and nobody listens on the next connection: whoever waits asks again,
// and then joins again.
void channels::on_broken() {
  std::vector<std::shared_ptr<tenure>> told;
  {
    const scoped_mutex lock(mutex_);
    for (auto& [name, one] : channels_) {
      close(one, state::off);
      told.insert(told.end(), one.members.begin(), one.members.end());
    }
    std::erase_if(channels_, [](const auto& one) { return one.second.members.empty(); });
  }
  for (const auto& one : told) one->on_tuned_in(false);
}

// A channel whose subscription is under way is left alone: its answer would be taken for that of
// the next one.
void channels::on_timer(monotonic_time now) {
  auto next = monotonic_time::max();
  const scoped_mutex lock(mutex_);
  for (auto it = channels_.begin(); it != channels_.end();) {
    auto& [name, one] = *it;
    const auto until = (one.is == state::asking ? now : one.unused_since) + linger;
    if (!one.members.empty() || now < until) {
      if (one.members.empty()) next = std::min(next, until);
      ++it;
      continue;
    }
    if (one.is == state::on) {
      connection().submit(*new parting{engine_, name}, redis::connection::delivery::lazy);
    }
    close(one, state::off);
    it = channels_.erase(it);
  }
  timer_runs_ = next != monotonic_time::max();
  if (timer_runs_) engine_.timers().arm(*this, next);
}

}  // namespace holdfast::runtime
