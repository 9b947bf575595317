#include "redis/locks/quorum_return.hpp"

#include <utility>

#include "lease/deadline.hpp"
#include "net/clock.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

std::shared_ptr<quorum_return> quorum_return::start(std::shared_ptr<const quorum_spec> spec,
                                                    const scope& where,
                                                    const substrate::quorum_claim& claim,
                                                    std::vector<request_id> listeners, teller tell,
                                                    net::waiter* sleeper) {
  auto made = std::make_shared<quorum_return>(std::move(spec), where, claim, std::move(listeners),
                                              std::move(tell));
  made->begin(sleeper);
  return made;
}

quorum_return::quorum_return(std::shared_ptr<const quorum_spec> spec, const scope& where,
                             const substrate::quorum_claim& claim,
                             std::vector<request_id> listeners, teller tell)
    : spec_(std::move(spec)),
      claim_(claim),
      listeners_(std::move(listeners)),
      tell_(std::move(tell)),
      machine_(where, group().size(),
               leasing::too_late_from(net::now(), group().response_timeout()),
               group().home().next_seed()),
      reader_(mutex_, group(), *spec_->key) {}

quorum_return::~quorum_return() {
  if (group().is_in_its_process()) group().home().timers().disarm(*this);
}

void quorum_return::begin(net::waiter* sleeper) {
  std::optional<leasing::outcome> told;
  {
    const scoped_mutex lock(mutex_);
    const bool goes_on = group().began(shared_from_this());
    if (goes_on) self_ = shared_from_this();
    reader_.begin(sleeper);
    told = obey(machine_.start());
    is_abandoned_ |= !goes_on;
  }
  tell(told);
}

void quorum_return::ask(std::size_t member) {
  quorum_call::question asks{.member = member, .spec = spec_, .claim = claim_};
  asks.asks = listeners_.empty() ? quorum_call::what::release : quorum_call::what::leave;
  if (!listeners_.empty()) asks.claim.listener = listeners_[member];
  auto how = reader_.delivery_to(member);
  // Nobody waits for it: the answer may lie for a while.
  if (!tell_) how = redis::connection::delivery::lazy;
  quorum_call::submit(std::shared_ptr<quorum_call::asker>(shared_from_this(), this),
                      quorum_call::interest::lasting, std::move(asks), how);
}

std::optional<leasing::outcome> quorum_return::obey(const leasing::quorum_release_step& step) {
  if (!is_abandoned_) {
    for (const auto member : step.send) ask(member);
    if (step.wake_at) group().home().timers().arm(*this, *step.wake_at);
  }
  const bool is_decided = step.done || step.finished;
  if (is_decided && !std::exchange(is_decided_, true)) group().decided();
  if (step.finished) {
    group().ended(*this);
    self_.reset();  // every caller keeps a reference of its own
  }
  return step.done;
}

// The votes run out by themselves. Requests under way keep this until they are answered. None is
// sent again then, or two members that do not answer would keep this in turns.
void quorum_return::abandon() {
  const scoped_mutex lock(mutex_);
  is_abandoned_ = true;
  group().home().timers().disarm(*this);
  self_.reset();  // the caller keeps a reference of its own
}

void quorum_return::tell(const std::optional<leasing::outcome>& what) {
  if (!what) return;
  teller told;
  {
    const scoped_mutex lock(mutex_);
    told.swap(tell_);  // the objects that it keeps alive need not wait for absent members
  }
  if (told) told(*what);
  const scoped_mutex lock(mutex_);
  is_over_ = true;
  reader_.wake();
}

void quorum_return::on_answer(const quorum_call::question& asked, const resp::value& reply,
                              monotonic_time) {
  std::optional<leasing::outcome> told;
  {
    const scoped_mutex lock(mutex_);
    told = obey(machine_.on_released(asked.member, spec_->recipe->read_release(reply), net::now()));
    reader_.answered(asked.member);
  }
  tell(told);
}

void quorum_return::on_missing(const quorum_call::question& asked, no_answer how,
                               const redis::breakdown&) {
  std::optional<leasing::outcome> told;
  {
    const scoped_mutex lock(mutex_);
    told = obey(machine_.on_missing(asked.member, how, net::now()));
    reader_.answered(asked.member);
  }
  tell(told);
}

void quorum_return::on_timer(monotonic_time now) {
  std::optional<leasing::outcome> told;
  {
    const scoped_mutex lock(mutex_);
    told = obey(machine_.on_timer(now));
  }
  tell(told);
}

void quorum_return::drive(net::waiter& self) {
  reader_.drive(self, [this]() HOLDFAST_REQUIRES(mutex_) { return is_over_; });
}

}  // namespace holdfast::redis_locks
