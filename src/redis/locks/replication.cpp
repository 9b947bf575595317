#include "redis/locks/replication.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/asking.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"
#include "redis/locks/words.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::redis_locks {
namespace {

constexpr int most_redirections = 5;

leasing::outcome not_asked(const std::string& why) {
  return {errc::unavailable,
          "whether replicas have the lock could not be asked: " + why + "; it is given back"};
}

leasing::outcome too_few(const std::string& who, milliseconds patience, const std::string& of) {
  return {errc::no_replicas, who + " replicas confirmed it within " + of +
                                 std::to_string(patience.count()) + " ms; it is given back"};
}

}  // namespace

// ---- one grant ---------------------------------------------------------------------------------

// Lives until its round is over, or nobody counts on it.
class replication::confirmation final : public redis::request,
                                        public std::enable_shared_from_this<confirmation>,
                                        private timed {
 public:
  confirmation(replication& of, std::shared_ptr<redis_lock> granted)
      : of_(&of), engine_(of.engine_), granted_(std::move(granted)) {}
  ~confirmation() override { timers().disarm(*this); }

  // Rounds take their time, which others may have and this one has not.
  void limit() { timers().arm(*this, net::now() + half_its_lease()); }

  // It may have gone to another one meanwhile.
  bool is_renewed_by(const replication& who) const noexcept { return of_ == &who && is_renewed_; }
  // Whether the WAIT of this session speaks of it.
  bool is_asked_over(const replication& who, std::uint64_t session) const noexcept {
    return is_renewed_by(who) && session_ == session;
  }
  bool is_asked_with_asking() const noexcept { return is_being_moved_; }
  milliseconds half_its_lease() const { return granted_->spec().lease / 2; }

  void tell(std::optional<leasing::outcome> refusal) {
    granted_->on_replicated(std::move(refusal));
  }

  // A connection that nobody used may have ended long ago, and says so only when it is used: that
  // costs no holder its grant. In the next round the lock is renewed over another connection.
  void on_broken(no_answer what, const std::string& why) {
    if (what != no_answer::unknown || !try_again()) tell(not_asked(why));
  }

 private:
  bool try_again() {
    is_renewed_ = false;
    if (std::exchange(was_tried_again_, true)) return false;
    // The slot's master may be another one by now.
    is_being_moved_ = false;
    return go_to(engine_.replicas_of(granted_->spec().key.slot()));
  }

  bool go_to(replication* there) {
    if (there == nullptr) return false;
    is_renewed_ = false;
    of_ = there;
    there->join(shared_from_this());
    return true;
  }

  // The node says that another one has the lock: that was seen to.
  bool is_sent_on(const resp::value& reply) {
    auto* const cluster = engine_.its_cluster();
    if (cluster == nullptr || !reply.is(resp::type::error)) return false;
    const auto to = redis::read_redirection(reply.text, of_.load()->place());
    if (!to) return false;
    if (++sent_on_ > most_redirections) {
      tell(not_asked("it was sent on " + std::to_string(most_redirections) + " times, then " +
                     reply.text));
      return true;
    }
    is_being_moved_ = to->how == redis::redirection::kind::ask;
    if (!is_being_moved_) cluster->refresh();
    return go_to(cluster->replication_at(to->where));
  }

  // Of redis::request: the renewal.
  void write(resp::writer& out, monotonic_time sent_at) override {
    session_ = of_.load()->sessions_.load(std::memory_order_relaxed);
    sent_at_ = sent_at;
    // It may have been given back, or have ended, since it was granted.
    is_over_ = !granted_->wants_renewal();
    if (is_over_) return dialects::write_nothing(out);
    const auto& spec = granted_->spec();
    const auto sent = of_.load()->clock_.at(sent_at);
    const substrate::claim* const only = &granted_->claim();
    const auto timeout = engine_.options().response_timeout;
    spec.recipe->write_renew({&only, 1}, leasing::not_after(sent, timeout), out);
  }

  void on_reply(resp::value& reply) override {
    auto& asked_by = *of_.load();
    if (is_over_) {
      tell(not_asked("it has ended meanwhile"));
    } else if (!is_sent_on(reply)) {
      on_verdict(granted_->spec().recipe->read_renew(reply, 0));
    }
    asked_by.on_asked();
  }

  void on_verdict(const substrate::renew_verdict& verdict) {
    is_renewed_ = std::holds_alternative<substrate::renewed>(verdict);
    if (is_renewed_) return;
    if (const auto* no = std::get_if<substrate::refused>(&verdict)) {
      return tell(leasing::outcome{no->code, no->detail});
    }
    if (const auto* late = std::get_if<substrate::late>(&verdict)) {
      of_.load()->clock_.learn(sent_at_, net::now(), late->now);
      if (try_again()) return;
      return tell(leasing::outcome{errc::clock_skew, "the server finds the request too old"});
    }
    tell(leasing::outcome{errc::unavailable,
                          "the server that should replicate it does not know the lock"});
  }

  void on_failed(no_answer what, const redis::breakdown& why) override {
    auto& asked_by = *of_.load();
    on_broken(what, why.detail);
    asked_by.on_asked();
  }

  // Of timed.
  void on_timer(monotonic_time) override {
    tell(of_.load()->is_waiting_ ? too_few("too few", half_its_lease(), "half its lease, ")
                                 : not_asked("nothing was heard for half its lease"));
  }
  void on_shut_down() noexcept override {}
  std::shared_ptr<void> pin() noexcept override { return weak_from_this().lock(); }
  runtime::timers& timers() const { return engine_.timers(); }

  std::atomic<replication*> of_;  // the one that asks for it now
  redis_engine& engine_;
  const std::shared_ptr<redis_lock> granted_;
  std::uint64_t session_ = 0;  // over which the renewal was sent
  monotonic_time sent_at_{};
  bool is_over_ = false;
  bool was_tried_again_ = false;
  bool is_renewed_ = false;
  bool is_being_moved_ = false;  // to the node that is asked now
  int sent_on_ = 0;              // so often
};

// ---- all of a round ----------------------------------------------------------------------------

replication::replication(redis_engine& owner, shared_clock& clock, redis::session_settings session,
                         redis::connection_tuning tuning, net::background_thread& helper)
    : engine_(owner), clock_(clock), connection_(std::move(session), tuning, helper, *this) {}

replication::~replication() = default;

void replication::confirm(std::shared_ptr<redis_lock> granted) {
  auto one = std::make_shared<confirmation>(*this, std::move(granted));
  one->limit();
  join(std::move(one));
}

void replication::join(std::shared_ptr<confirmation> one) {
  {
    const scoped_mutex lock(mutex_);
    gathered_.push_back(std::move(one));
    if (std::exchange(is_under_way_, true)) return;
    asked_.swap(gathered_);
  }
  begin_round();
}

void replication::on_connected(const redis::session_facts& facts) {
  sessions_.fetch_add(1, std::memory_order_relaxed);
  clock_.learn(facts.asked_at, facts.answered_at, facts.time);
  const scoped_mutex lock(mutex_);
  at_ = facts.where;
}

net::tcp_endpoint replication::place() const {
  const scoped_mutex lock(mutex_);
  return at_;
}

// Calls nobody back: the thread that confirms has its lock's mutex.
void replication::begin_round() {
  unanswered_ = asked_.size() + 1;  // and this thread, which looks at asked_ until then
  for (const auto& one : asked_) {
    if (one->is_asked_with_asking()) {
      connection_.submit(*new asking, *one, redis::connection::delivery::prompt);
    } else {
      connection_.submit(*one, redis::connection::delivery::prompt);
    }
  }
  if (--unanswered_ == 0) connection_.submit(*this, redis::connection::delivery::prompt);
}

// Where no lock was renewed there is nothing to wait for, and those that have gathered come next.
void replication::on_asked() {
  if (--unanswered_ != 0) return;
  if (std::ranges::none_of(asked_, [this](auto& one) { return one->is_renewed_by(*this); })) {
    return end_round();
  }
  connection_.submit(*this, redis::connection::delivery::prompt);
}

void replication::end_round() {
  confirmations over;
  {
    const scoped_mutex lock(mutex_);
    over.swap(asked_);
    asked_.swap(gathered_);
    is_under_way_ = !asked_.empty();
    if (!is_under_way_) return;
  }
  begin_round();
}

// Its answer must come before the connection counts as broken. A disk that is written to once per
// second is told of by the replica a second after the last time, and some milliseconds: more than
// half of the usual time-out.
milliseconds replication::most_patience() const {
  const auto timeout = engine_.options().response_timeout;
  return engine_.options().replicas_fsync ? timeout * 3 / 4 : timeout / 2;
}

// WAIT counts writes over its own connection: on another one it would find nothing to wait for.
void replication::write(resp::writer& out, monotonic_time) {
  session_ = sessions_.load(std::memory_order_relaxed);
  patience_ = milliseconds{0};
  for (const auto& one : asked_) {
    if (!one->is_asked_over(*this, session_)) continue;
    const auto its = std::min(most_patience(), one->half_its_lease());
    patience_ = std::max({patience_, its, milliseconds{1}});
  }
  if (patience_ == milliseconds{0}) return dialects::write_nothing(out);
  is_waiting_ = true;
  const bool on_disk = engine_.options().replicas_fsync;
  out.command(on_disk ? 4 : 3);
  out.arg(on_disk ? "WAITAOF" : "WAIT");
  if (on_disk) out.arg("0");
  out.arg(std::to_string(engine_.options().min_replicas));
  out.arg(std::to_string(patience_.count()));
}

void replication::on_reply(resp::value& reply) {
  is_waiting_ = false;
  const auto refusal = judge(reply);
  for (const auto& one : asked_) {
    if (one->is_asked_over(*this, session_)) {
      one->tell(refusal);
    } else if (one->is_renewed_by(*this)) {
      one->on_broken(no_answer::unknown, "the connection broke meanwhile");
    }
  }
  end_round();
}

void replication::on_failed(no_answer what, const redis::breakdown& why) {
  is_waiting_ = false;
  for (const auto& one : asked_) {
    if (one->is_renewed_by(*this)) one->on_broken(what, why.detail);
  }
  end_round();
}

std::optional<leasing::outcome> replication::judge(const resp::value& reply) const {
  if (reply.is(resp::type::error)) {
    const auto why = resp::classify(reply.text);
    return leasing::outcome{why.code, why.detail};
  }
  const auto& count =
      reply.is(resp::type::array) && !reply.items.empty() ? reply.items.back() : reply;
  const auto wanted = engine_.options().min_replicas;
  if (count.number >= wanted) return std::nullopt;
  return too_few(std::to_string(count.number) + " of " + std::to_string(wanted), patience_, "");
}

}  // namespace holdfast::redis_locks
