#include "redis/locks/quorum_driver.hpp"

#include <algorithm>
#include <utility>

#include "lease/deadline.hpp"
#include "lease/renewal_lateness.hpp"
#include "net/clock.hpp"
#include "redis/locks/quorum_return.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

quorum_driver::quorum_driver(std::shared_ptr<quorum_handle> handle,
                             std::shared_ptr<const quorum_spec> spec, const request_id& owner,
                             substrate::token_major token, std::vector<request_id> listeners,
                             const leasing::quorum_outcome& won)
    : handle_(std::move(handle)),
      spec_(std::move(spec)),
      owner_(owner),
      token_(token),
      listeners_(std::move(listeners)),
      machine_({spec_->lease, group().response_timeout(), spec_->renews}, won),
      wanted_(spec_->kept_time()),
      longest_(wanted_) {}

quorum_driver::~quorum_driver() {
  if (group().is_in_its_process()) group().home().timers().disarm(*this);
}

void quorum_driver::start() {
  const scoped_mutex lock(mutex_);
  note_deadline();
  obey(machine_.start());
}

void quorum_driver::confirm(std::size_t member) {
  const scoped_mutex lock(mutex_);
  obey(machine_.confirm(member));
}

nanoseconds quorum_driver::remaining() const noexcept {
  const auto until = deadline_.load(std::memory_order_acquire);
  if (until == 0 || !group().is_in_its_process()) return {};
  return std::max(nanoseconds{0}, monotonic_time{nanoseconds{until}} - net::now());
}

std::stop_token quorum_driver::lost() {
  const scoped_mutex lock(mutex_);
  if (!lost_.stop_possible()) {
    lost_ = std::stop_source{};
    if (was_lost_) lost_.request_stop();  // nobody can listen to it yet
  }
  return lost_.get_token();
}

// ---- renewing ----------------------------------------------------------------------------------

// A member in doubt may be about to say that the hash slot is new to it, and to be invited in. A
// renewal that comes before must not have it stay out, as one that has lost its memory.
void quorum_driver::obey(const leasing::quorum_lease_step& step) {
  for (const auto member : step.renew) {
    group().at(member).register_client(wanted_);
    quorum_call::submit(std::shared_ptr<quorum_call::asker>(shared_from_this(), this),
                        quorum_call::interest::passing,
                        {.member = member,
                         .asks = quorum_call::what::keep,
                         .spec = spec_,
                         .claim = {.key = spec_->key.get(),
                                   .owner = owner_,
                                   .lease = wanted_,
                                   .token = token_,
                                   .is_unheard = machine_.is_in_doubt(member, net::now())}},
                        redis::connection::delivery::prompt);
  }
  if (step.wake_at) group().home().timers().arm(*this, *step.wake_at);
  note_deadline();
  if (extends_ != nullptr) extends_->done();
  if (!step.lost) return;
  was_lost_ = true;
  group().home().timers().disarm(*this);
  if (lost_.stop_possible()) group().home().callbacks().post(*new loss_notice{lost_});
}

void quorum_driver::note_deadline() {
  const auto until = machine_.is_over() ? monotonic_time{} : machine_.deadline();
  deadline_.store(until.time_since_epoch().count(), std::memory_order_release);
}

void quorum_driver::on_answer(const quorum_call::question& asked, const resp::value& reply,
                              monotonic_time sent_at) {
  auto verdict = spec_->recipe->read_keep(reply);
  // The member keeps it longer than we count on.
  if (auto* const kept = std::get_if<substrate::renewed>(&verdict)) kept->ttl -= spec_->delay;
  const scoped_mutex lock(mutex_);
  const auto now = follow_clock_rate(net::now());
  const auto before = machine_.deadline();
  obey(machine_.on_kept(asked.member, verdict, sent_at, now));
  const auto lateness = leasing::renewal_lateness(before, now, spec_->lease);
  if (lateness == nanoseconds{0} || machine_.deadline() <= before || !spec_->renews) return;
  group().home().report({.type = event_type::renewed_late,
                         .name = name(),
                         .kind = lock_kind::mutex,
                         .duration = lateness});
}

void quorum_driver::on_missing(const quorum_call::question& asked, no_answer,
                               const redis::breakdown&) {
  const scoped_mutex lock(mutex_);
  obey(machine_.on_missing(asked.member, net::now()));
}

void quorum_driver::on_timer(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  obey(machine_.on_timer(now));
}

result<void> quorum_driver::extend(milliseconds duration) {
  const auto kept = duration + spec_->delay;
  if (kept > group().longest_lease()) {
    return failure{errc::invalid_argument,
                   "a lease of a quorum cannot be extended beyond quorum_options::longest_lease"};
  }
  net::waiter self{net::waiter::kind::caller};
  monotonic_time enough;
  {
    const scoped_mutex lock(mutex_);
    if (extends_ != nullptr) return failure{errc::busy, "another thread is extending this lease"};
    const auto now = net::now();
    enough = leasing::lease_deadline(now, duration);
    wanted_ = kept;
    longest_ = std::max(longest_, kept);
    obey(machine_.extend(duration, now));
    wanted_ = spec_->kept_time();
    extends_ = &self;
  }
  for (;;) {
    {
      const scoped_mutex lock(mutex_);
      self.clear_done();
      const bool is_enough = !machine_.is_over() && machine_.deadline() >= enough;
      const bool is_answered = machine_.unanswered() == 0;
      if (is_enough || is_answered || machine_.is_over()) {
        extends_ = nullptr;
        if (is_enough) return {};
        if (released_) return failure{errc::lost, "the lease was released meanwhile"};
        if (machine_.is_over()) {
          return failure{errc::lost, "the lease had ended before it was extended"};
        }
        return failure{errc::unavailable, "no majority of the quorum has extended the lease"};
      }
    }
    self.sleep();
  }
}

// ---- giving back -------------------------------------------------------------------------------

std::shared_ptr<quorum_return> quorum_driver::begin_release(const listener& who,
                                                            net::waiter* sleeper) {
  leasing::quorum_release_machine::scope where;
  bool was_lost = false;
  {
    const scoped_mutex lock(mutex_);
    if (std::exchange(released_, true)) return nullptr;
    // Also before the timer has come: the owner may have seen held() turn false.
    was_lost = !machine_.held(net::now());
    where.in_doubt = machine_.in_doubt(net::now());
    where.renewed = machine_.has_renewed();
    machine_.on_released();
    note_deadline();
    group().home().timers().disarm(*this);
    if (extends_ != nullptr) extends_->done();
    listener_ = who;
    if (was_lost) outcome_ = {errc::lost, "the lease had ended before it was released"};
    // A renewal may be on its way.
    where.until = std::max(machine_.deadline(), net::now() + group().response_timeout() + longest_);
  }
  for (std::size_t i = 0; i < group().size(); ++i) where.at.push_back(i);
  const bool tells = who.exists() || sleeper != nullptr;
  quorum_return::teller tell;
  if (tells) {
    tell = [self = shared_from_this()](const leasing::outcome& how) { self->on_released(how); };
  }
  return quorum_return::start(
      spec_, where,
      {.key = spec_->key.get(), .owner = owner_, .lease = spec_->kept_time(), .token = token_},
      listeners_, std::move(tell), sleeper);
}

void quorum_driver::on_released(const leasing::outcome& how) {
  listener who;
  {
    const scoped_mutex lock(mutex_);
    if (!outcome_) outcome_ = how;
    who = std::exchange(listener_, {});
  }
  // The listener may be gone, and this with it, before this returns.
  const auto alive = spec_->group;
  who.tell(alive->home());
}

bool quorum_driver::give_back(const listener& who) {
  return begin_release(who, nullptr) != nullptr && who.exists();
}

result<void> quorum_driver::take_released() {
  const scoped_mutex lock(mutex_);
  if (!outcome_ || !outcome_->code) return {};
  return failure{*outcome_->code, outcome_->detail};
}

result<void> quorum_driver::give_back_and_wait() {
  const auto alive = shared_from_this();
  net::waiter self{net::waiter::kind::caller};
  const auto giving = begin_release({}, &self);
  if (!giving) return {};
  giving->drive(self);
  return take_released();
}

}  // namespace holdfast::redis_locks
