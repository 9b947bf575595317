#include "redis/locks/quorum_bid.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/locks/quorum_driver.hpp"
#include "redis/locks/quorum_return.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

quorum_bid::quorum_bid(std::weak_ptr<quorum_handle> handle, std::shared_ptr<const quorum_spec> spec,
                       leasing::patience patience)
    : handle_(std::move(handle)),
      spec_(std::move(spec)),
      since_(net::now()),
      machine_(patience, {.names = group().names(),
                          .lease = spec_->lease,
                          .member_timeout = spec_->member_timeout(),
                          .hears = spec_->hears(),
                          .asks_after = spec_->asks_after,
                          .seed = group().home().next_seed()}),
      reader_(mutex_, group(), *spec_->key),
      owner_(group().home().next_request()) {
  if (!patience.waits || spec_->asks_after) return;
  for (std::size_t i = 0; i < group().size(); ++i) {
    listeners_.push_back(group().at(i).next_request());
  }
}

quorum_bid::~quorum_bid() {
  if (group().is_in_its_process()) group().home().timers().disarm(*this);
}

void quorum_bid::begin(std::stop_token stop, const listener& who) {
  const auto alive = shared_from_this();
  if (stop.stop_possible()) {
    stop_callback_ = std::make_unique<std::stop_callback<stopper>>(std::move(stop), stopper{this});
  }
  for (std::size_t i = 0; i < group().size(); ++i) {
    group().at(i).register_client(spec_->kept_time());
  }
  const scoped_mutex lock(mutex_);
  listener_ = who;
  if (stopped_early_) return conclude({.code = errc::cancelled});
  begun_ = true;
  self_ = alive;
  reader_.begin(who.sleeper);
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    group().at(i).waiting().hear(listeners_[i], weak_from_this());
  }
  for (std::size_t i = 0; i < group().size(); ++i) {
    if (group().is_silent(i)) machine_.mark_silent(i);
  }
  obey(machine_.start(net::now()));
}

void quorum_bid::obey(const leasing::quorum_step& step) {
  take_back(step);
  if (step.new_request && machine_.attempt() > 1) owner_ = group().home().next_request();
  for (const auto& what : step.send) ask(what);
  if (step.wake_at) group().home().timers().arm(*this, *step.wake_at);
  if (machine_.is_waiting()) listen();
  if (step.done) conclude(*step.done);
}

void quorum_bid::ask(const leasing::member_ask& what) {
  using asked = leasing::member_ask::what;
  const auto member = what.member;
  quorum_call::question asks{.member = member,
                             .attempt = machine_.attempt(),
                             .spec = spec_,
                             .claim = {.key = spec_->key.get(),
                                       .owner = owner_,
                                       .lease = spec_->kept_time(),
                                       .token = machine_.token(),
                                       .floor = group().at(member).floor(spec_->key->slot())}};
  switch (what.asks) {
    case asked::vote:
      asks.asks = quorum_call::what::vote;
      break;
    case asked::join:
      asks.asks = quorum_call::what::join;
      break;
    case asked::enter:
      asks.asks = quorum_call::what::enter;
      break;
    case asked::stay_out:
      asks.asks = quorum_call::what::stay_out;
      break;
    case asked::agree:
      asks.asks = quorum_call::what::agree;
      break;
    case asked::confirm:
      if (const auto won = won_.lock()) won->confirm(member);
      return;
  }
  const bool asks_for_vote = what.asks == asked::vote || what.asks == asked::join;
  if (!listeners_.empty() && asks_for_vote) {
    asks.claim.listener = listeners_[member];
    asks.claim.waited = std::chrono::floor<microseconds>(net::now() - since_);
  }
  const auto how = reader_.delivery_to(member);
  quorum_call::submit(std::shared_ptr<quorum_call::asker>(shared_from_this(), this),
                      quorum_call::interest::lasting, std::move(asks), how);
}

// Sent behind the question where that is still under way: no later one can come between.
void quorum_bid::take_back(const leasing::quorum_step& step) {
  if (step.take_back.empty()) return;
  const auto kept = spec_->kept_time() + group().response_timeout();
  quorum_return::start(
      spec_, {.at = step.take_back, .in_doubt = step.in_doubt, .until = net::now() + kept},
      {.key = spec_->key.get(), .owner = owner_, .lease = spec_->kept_time()},
      step.leaves ? listeners_ : std::vector<request_id>{}, {});
}

void quorum_bid::conclude(const leasing::quorum_outcome& how) {
  stop_listening();
  if (how.code) {
    ended_ = leasing::outcome{how.code, how.detail};
  } else {
    const auto token = machine_.token();
    for (std::size_t i = 0; i < group().size(); ++i) {
      group().at(i).raise_floor(spec_->key->slot(), token);
    }
    auto got =
        std::make_shared<quorum_driver>(handle_.lock(), spec_, owner_, token, listeners_, how);
    got->start();
    won_ = got;
    ended_ = grant{std::move(got), token * substrate::minors_per_major, machine_.attempt() > 1};
  }
  group().home().timers().disarm(*this);
  std::exchange(listener_, {}).tell(group().home());
  reader_.wake();
  self_.reset();  // every caller keeps a reference of its own
}

// While it waits, somebody must read what members say unasked.
void quorum_bid::listen() {
  if (listeners_.empty() || std::exchange(listens_, true)) return;
  for (std::size_t i = 0; i < group().size(); ++i) {
    group().at(i).connection(spec_->key->slot()).listen(nullptr);
  }
}

void quorum_bid::stop_listening() {
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    group().at(i).waiting().hear_no_more(listeners_[i]);
    if (listens_) group().at(i).connection(spec_->key->slot()).unlisten(nullptr);
  }
  listens_ = false;
}

// ---- what happens ------------------------------------------------------------------------------

void quorum_bid::on_answer(const quorum_call::question& asked, const resp::value& reply,
                           monotonic_time sent_at) {
  const auto now = follow_clock_rate(net::now());
  const scoped_mutex lock(mutex_);
  // First: it may be asked again at once.
  if (asked.attempt == machine_.attempt()) reader_.answered(asked.member);
  if (asked.asks == quorum_call::what::agree) {
    obey(machine_.on_agreed(asked.attempt, asked.member, spec_->recipe->read_keep(reply), now));
  } else {
    obey(machine_.on_vote(asked.attempt, asked.member, spec_->recipe->read_vote(asked.claim, reply),
                          sent_at, now));
  }
}

void quorum_bid::on_missing(const quorum_call::question& asked, no_answer how,
                            const redis::breakdown& why) {
  const scoped_mutex lock(mutex_);
  if (asked.attempt == machine_.attempt()) reader_.answered(asked.member);
  obey(machine_.on_missing(asked.attempt, asked.member, how, why.detail, net::now()));
}

void quorum_bid::on_timer(monotonic_time now) {
  const scoped_mutex lock(mutex_);
  obey(machine_.on_timer(now));
  for (std::size_t i = 0; i < group().size(); ++i) {
    if (machine_.is_silent(i)) group().set_silent(i, true);
  }
}

void quorum_bid::on_hint() {
  const scoped_mutex lock(mutex_);
  if (begun_) obey(machine_.on_hint(net::now()));
}

void quorum_bid::on_stop() noexcept {
  if (!group().is_in_its_process()) return;
  const auto alive = weak_from_this().lock();
  if (!alive) return;
  const scoped_mutex lock(mutex_);
  if (begun_) {
    obey(machine_.on_stop(net::now()));
  } else {
    stopped_early_ = true;
  }
}

// ---- the caller --------------------------------------------------------------------------------

void quorum_bid::drive(net::waiter& self) {
  reader_.drive(self, [this]() HOLDFAST_REQUIRES(mutex_) { return ended_.has_value(); });
}

acquired quorum_bid::take() {
  stop_callback_.reset();
  const scoped_mutex lock(mutex_);
  return std::move(*ended_);
}

void quorum_bid::abandon() {
  stop_callback_.reset();
  std::shared_ptr<holding> got;
  const auto alive = shared_from_this();
  {
    const scoped_mutex lock(mutex_);
    listener_ = {};
    if (begun_ && !ended_) obey(machine_.on_stop(net::now()));
    if (!ended_) return;
    if (auto* const won = std::get_if<grant>(&*ended_)) got = std::move(won->of);
  }
  if (got) got->give_back({});
}

}  // namespace holdfast::redis_locks
