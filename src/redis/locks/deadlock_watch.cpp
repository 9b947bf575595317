#include "redis/locks/deadlock_watch.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "lease/cycle.hpp"
#include "lease/server_clock.hpp"
#include "net/clock.hpp"
#include "net/host_name.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

// Most waits are over by then, and cost nothing.
constexpr milliseconds written_after{20};
// The waits of a dead client count until then.
constexpr milliseconds counts_for{6000};
constexpr milliseconds written_again_after{1500};
// So that no script of ours takes long: so many waits are written, or ended, with one note; and so
// many parts of all are read until it is time to write again. The rest follows.
constexpr std::size_t most_in_a_note = 50;
constexpr int parts_in_a_round = 10;
// A cycle was seen that was none any more, or the server was not heard.
constexpr milliseconds looked_again_after{100};

char mode_of(const lock_spec& spec) noexcept { return spec.wants ? spec.wants->mode : 'x'; }

// Whether it can be known which holders a waiter for this lock waits for. Any holder of permits can
// give some back, and nobody holds a gate. The scripts do not know how the locks of other libraries
// are written.
bool follows(const lock_spec& spec) noexcept {
  return !spec.foreign && !spec.is_gate && mode_of(spec) != 's';
}

std::string this_process() {
  auto host = net::host_name();
  std::ranges::replace(host, '\n', '?');
  return host + ':' + std::to_string(::getpid());
}

}  // namespace

deadlock_watch::deadlock_watch(redis_engine& owner, const client_id& id)
    : engine_(owner), id_(id), who_(this_process()) {}

// ---- a thread waits ----------------------------------------------------------------------------

deadlock_watch::blocked::blocked(deadlock_watch& watch, const lock_spec& wants, identity thread,
                                 std::stop_token stop)
    : watch_(watch),
      wants_(wants),
      thread_(thread),
      id_(watch.next_id()),
      due_(net::now() + written_after),
      forward_(std::move(stop), forward{ended_}) {
  const scoped_mutex lock(watch_.mutex_);
  watch_.waits_.push_back(this);
  watch_.plan(due_);
}

deadlock_watch::blocked::~blocked() {
  {
    const scoped_mutex lock(watch_.mutex_);
    std::erase(watch_.waits_, this);
    if (record_.empty()) return;
    watch_.ended_.push_back({id_, noted_until_});
  }
  watch_.tell(net::now(), redis::connection::delivery::lazy);
}

std::optional<leasing::outcome> deadlock_watch::blocked::report() const {
  const scoped_mutex lock(watch_.mutex_);
  return report_;
}

std::unique_ptr<runtime::wait_watch::wait> deadlock_watch::begin(const lock_spec& wants,
                                                                 identity thread,
                                                                 std::stop_token stop) {
  if (!follows(wants)) return nullptr;
  return std::make_unique<blocked>(*this, wants, thread, std::move(stop));
}

std::string deadlock_watch::next_id() {
  const scoped_mutex lock(mutex_);
  const auto way = engine_.hears() ? substrate::wakeup_way::channel : substrate::wakeup_way::poll;
  return dialects::wait_id(id_, ++counted_, way);
}

void deadlock_watch::acquired(identity thread, const std::shared_ptr<lock_driver>& what) {
  if (!follows(what->spec())) return;
  const scoped_mutex lock(mutex_);
  has_.insert_or_assign(what.get(), had{thread, what});
}

void deadlock_watch::released(const lock_driver& what) {
  const scoped_mutex lock(mutex_);
  has_.erase(&what);
}

// A lock that the thread has and wants: where that is allowed, another thread gives it back, or the
// server takes it in the same moment.
std::string deadlock_watch::record_of(const blocked& one) {
  const auto& wants = one.wants_;
  const bool waits_for_itself = wants.refuses_reentry && wants.changes() == nullptr;
  substrate::known_wait known;
  known.who = who_;
  known.wants = {mode_of(wants), wants.key.value_key()};
  for (const auto& [place, entry] : has_) {
    if (entry.thread != one.thread_) continue;
    const auto what = entry.what.lock();
    if (!what || !what->held()) continue;
    const bool is_the_same = what->name() == wants.key.name();
    if (is_the_same && !waits_for_itself) continue;
    const auto& claim = what->claim();
    known.holds.push_back(
        {{mode_of(what->spec()), claim.key->value_key()}, std::string{claim.owner.text()}});
  }
  return dialects::to_record(known);
}

// ---- what the server is told and asked ---------------------------------------------------------

void deadlock_watch::on_timer(monotonic_time now) {
  {
    const scoped_mutex lock(mutex_);
    planned_ = monotonic_time::max();
  }
  tell(now, redis::connection::delivery::prompt);
}

void deadlock_watch::tell(monotonic_time now, redis::connection::delivery how) {
  {
    const scoped_mutex lock(mutex_);
    if (!std::holds_alternative<std::monostate>(under_way_)) return;  // its answer goes on
    if (!prepare(now)) return rest(now);
  }
  engine_.connection(0).submit(command_, how);
}

bool deadlock_watch::prepare(monotonic_time now) {
  note next;
  const auto ends =
      ended_.begin() + static_cast<std::ptrdiff_t>(std::min(ended_.size(), most_in_a_note));
  next.what.ended.assign(ended_.begin(), ends);
  ended_.erase(ended_.begin(), ends);
  next.not_after = leasing::not_after(engine_.clock(0).at(now), engine_.options().response_timeout);
  if (waits_.empty()) {
    known_.clear();
    next_part_ = dialects::first_part;
  }
  if (now >= again_at_) {
    again_at_ = now + written_again_after;
    ++round_;
    parts_ = 0;
  }
  for (auto* const one : waits_) {
    const bool is_written = !one->record_.empty() && one->round_ == round_;
    if (one->report_ || one->due_ > now || is_written) continue;
    if (next.what.waits.size() == most_in_a_note) break;
    if (one->record_.empty()) one->record_ = record_of(*one);
    one->round_ = round_;
    // Else the server refuses all copies.
    if (next.not_after < leasing::far_future) {
      one->noted_until_ = std::max(one->noted_until_, next.not_after);
    }
    next.what.waits.push_back({one->id_, one->record_});
  }
  if (!next.what.waits.empty() || reads_on()) next.what.read_from = next_part_;
  if (next.what.ended.empty() && next.what.read_from.empty()) return false;
  under_way_ = std::move(next);
  return true;
}

// Whether there is more to be read in this round.
bool deadlock_watch::reads_on() const {
  const auto is_written = [](const blocked* one) { return !one->report_ && !one->record_.empty(); };
  return next_part_ != dialects::first_part && parts_ < parts_in_a_round &&
         std::ranges::any_of(waits_, is_written);
}

// Nothing is under way: until when?
void deadlock_watch::rest(monotonic_time now) {
  auto next = ended_.empty() ? monotonic_time::max() : std::max(now, pause_ends_);
  if (reads_on()) next = std::min(next, std::max(now, pause_ends_));
  for (const auto* const one : waits_) {
    if (one->report_) continue;
    const bool is_left = !one->record_.empty() && one->round_ != round_;
    const auto due = one->record_.empty() ? one->due_ : is_left ? now : again_at_;
    next = std::min(next, due);
  }
  plan(next);
}

void deadlock_watch::plan(monotonic_time at) {
  if (at >= planned_) return;
  planned_ = at;
  engine_.timers().arm(*this, at);
}

void deadlock_watch::command::write(resp::writer& out, monotonic_time) {
  if (const auto* const noted = std::get_if<note>(&of_.under_way_)) {
    return dialects::write_note(of_.engine_.space(), noted->what, counts_for, noted->not_after,
                                out);
  }
  const auto& found = std::get<suspicion>(of_.under_way_);
  dialects::write_confirm(of_.engine_.space(), found.cycle, found.noted_until, out);
}

void deadlock_watch::command::on_failed(no_answer, const redis::breakdown&) {
  const scoped_mutex lock(of_.mutex_);
  if (const auto* const noted = std::get_if<note>(&of_.under_way_)) of_.say_again(*noted);
  of_.under_way_ = {};
  of_.again_at_ = net::now() + looked_again_after;
  of_.plan(of_.again_at_);
}

void deadlock_watch::say_again(const note& unheard) {
  ended_.insert(ended_.end(), unheard.what.ended.begin(), unheard.what.ended.end());
}

void deadlock_watch::on_reply(resp::value& reply) {
  bool asks = false;
  stops over;
  {
    const scoped_mutex lock(mutex_);
    const auto now = net::now();
    const bool was_note = std::holds_alternative<note>(under_way_);
    over = was_note ? on_noted(reply, now) : on_confirmed(reply, now);
    asks = std::holds_alternative<suspicion>(under_way_);
    if (!asks) rest(now);
  }
  for (auto& one : over) one.request_stop();
  if (asks) engine_.connection(0).submit(command_, redis::connection::delivery::prompt);
}

deadlock_watch::stops deadlock_watch::on_noted(const resp::value& reply, monotonic_time now) {
  const auto noted = std::get<note>(std::exchange(under_way_, {}));
  auto verdict = dialects::read_note(engine_.space(), reply);
  if (const auto* const too_late = std::get_if<substrate::late>(&verdict)) {
    engine_.clock(0).learn(command_.sent_at(), now, too_late->now);
    say_again(noted);
    again_at_ = now;
    return {};
  }
  if (const auto* const why = std::get_if<substrate::refused>(&verdict)) {
    if (why->passing) say_again(noted);
    return refuse(*why, now);
  }
  if (noted.what.read_from.empty()) return {};
  keep(std::get<0>(std::move(verdict)));
  if (!reads_on()) look_for_a_cycle();
  return {};
}

void deadlock_watch::keep(dialects::part_of_waits part) {
  ++parts_;
  for (auto& one : part.waits) {
    auto id = one.id;
    known_.insert_or_assign(std::move(id), told{std::move(one), pass_});
  }
  next_part_ = std::move(part.next);
  if (next_part_ != dialects::first_part) return;
  std::erase_if(known_, [pass = pass_](const auto& one) { return one.second.pass != pass; });
  ++pass_;
}

void deadlock_watch::look_for_a_cycle() {
  suspicion found;
  for (const auto& [id, one] : known_) found.all.push_back(one.what);
  // The youngest first: it is the one that has closed it.
  for (auto it = waits_.rbegin(); it != waits_.rend() && found.cycle.empty(); ++it) {
    if ((*it)->report_) continue;
    found.cycle = leasing::find_cycle(found.all, (*it)->id_);
    found.noted_until = (*it)->noted_until_;
  }
  if (!found.cycle.empty()) under_way_ = std::move(found);
}

deadlock_watch::stops deadlock_watch::on_confirmed(const resp::value& reply, monotonic_time now) {
  const auto found = std::get<suspicion>(std::exchange(under_way_, {}));
  const auto verdict = dialects::read_confirm(reply);
  if (const auto* const why = std::get_if<substrate::refused>(&verdict)) return refuse(*why, now);
  again_at_ = std::min(again_at_, now + looked_again_after);
  if (!std::get<bool>(verdict)) {
    // Of one of them something else is true by now, which the next pass tells.
    for (const auto& one : found.cycle) known_.erase(one.waits->id);
    return {};
  }
  const auto closes = std::ranges::find(waits_, found.cycle.front().waits->id, &blocked::id_);
  if (closes == waits_.end()) return {};
  (*closes)->report_ = {errc::would_deadlock, leasing::describe(found.cycle)};
  return {(*closes)->ended_};
}

// A user that asked for it shall not believe that it works.
deadlock_watch::stops deadlock_watch::refuse(const substrate::refused& why, monotonic_time now) {
  again_at_ = pause_ends_ = now + looked_again_after;
  stops over;
  if (why.passing) return over;
  for (auto* const one : waits_) {
    if (one->record_.empty()) continue;
    one->report_ = {why.code, "deadlocks cannot be detected: " + why.detail};
    over.push_back(one->ended_);
  }
  return over;
}

}  // namespace holdfast::redis_locks
