#include "reference/observer.hpp"

#include <poll.h>

#include <algorithm>

#include "net/clock.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence exclusion{"docs/guarantees.md, S1 and S3",
                             "In one server's history a lock has at most one holder at any "
                             "instant. [...] `lease::held()` is true only while the server must "
                             "still hold the lock for us"};
constexpr sentence together_only{
    "docs/guarantees.md",
    "For locks that several can hold S1 reads: at any instant only holders "
    "that go together, and never more permits in use than there are."};
constexpr sentence grow{"docs/guarantees.md, S2",
                        "Each grant of a lock has a larger fencing token than every grant before "
                        "it"};
constexpr sentence writers_order{"docs/guarantees.md, S2",
                                 "For readers S2 reads: a token is above that of every earlier "
                                 "writer and below that of every later one"};
constexpr sentence never_again{"docs/evidence.md, I10",
                               "a lease that is over is told to be lost, once, and is never held "
                               "again"};

constexpr sentence while_held{"include/holdfast/lease.hpp, remaining",
                              "How long the lock is certainly still held: zero when it is not."};

std::int64_t ticks(monotonic_time t) { return t.time_since_epoch().count(); }

std::optional<mode> mode_of(const lease& one) {
  return support::mode_of(static_cast<char>(one.mode()));
}

std::string describe(const watched& one) {
  return one.what().who + " has " + one.what().family + " " + text_of(one.what().has) + " token " +
         one.token().to_string();
}

}  // namespace

std::string text_of(const want& what) {
  return what.permits != 0 ? std::to_string(what.permits) + " permits" : name_of(what.in);
}

void watched::ends() {
  given_up_ = true;
  std::int64_t none = 0;
  ended_.compare_exchange_strong(none, ticks(net::now()));
}

void watched::drop() {
  ends();
  const std::unique_lock lock(guard_);
  lease_.reset();
}

observer::observer(run& of)
    : run_(of), thread_([this](const std::stop_token& stop) { observe(stop); }) {}

observer::~observer() = default;

std::shared_ptr<watched> observer::watch(lease value, claim what) {
  auto one = std::make_shared<watched>(std::move(value), std::move(what));
  const auto others = all();
  judge_tokens(*one, others);
  const std::lock_guard lock(guard_);
  all_.push_back(one);
  return one;
}

std::vector<std::shared_ptr<watched>> observer::all() const {
  const std::lock_guard lock(guard_);
  return all_;
}

void observer::excuse(const std::string& lock) {
  const std::lock_guard held(guard_);
  excused_.push_back(lock);
}

void observer::allow(const std::string& lock, std::uint32_t permits) {
  const std::lock_guard held(guard_);
  permits_[lock] = std::max(permits_[lock], permits);
}

std::uint32_t observer::most_permits(const std::string& lock) const {
  const std::lock_guard held(guard_);
  const auto at = permits_.find(lock);
  return at == permits_.end() ? 0 : at->second;
}

void observer::check() {
  const std::lock_guard lock(guard_);
  if (broken_) run_.disagree(broken_->first, "seen by the observer: " + broken_->second);
}

void observer::say(const sentence& promised, const std::string& seen) {
  const std::lock_guard lock(guard_);
  if (broken_) return;
  run_.noted("OBSERVED: " + seen);
  broken_.emplace(promised, seen);
}

void observer::observe(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look_around();
    ++rounds_;
    ::poll(nullptr, 0, 1);
  }
}

void observer::look_at(const std::shared_ptr<watched>& one, std::vector<sample>& held) {
  const std::shared_lock lock(one->guard_, std::try_to_lock);
  if (!lock || !one->lease_ || one->given_up_) return;
  const bool ended = one->ended_ != 0;
  const auto left = one->lease_->remaining();
  const auto now = ticks(net::now());
  if (!one->lease_->held()) {
    std::int64_t none = 0;
    one->ended_.compare_exchange_strong(none, now);
    return;
  }
  if (ended) say(never_again, describe(*one) + " again, after it had ended");
  if (left.count() > 0) {
    held.push_back({one, mode_of(*one->lease_).value_or(one->what().has.in)});
    one->none_left_since_ = 0;
  } else if (one->none_left_since_ == 0) {
    one->none_left_since_ = now;  // less than a millisecond is told as none
  } else if (now - one->none_left_since_ > 5'000'000) {
    say(while_held, describe(*one) + " has no time left and says that it is held");
  }
}

void observer::look_around() {
  std::vector<sample> first;
  for (const auto& one : all()) look_at(one, first);
  std::vector<sample> both;
  for (const auto& each : first) {
    const std::shared_lock lock(each.of->guard_, std::try_to_lock);
    if (!lock || !each.of->lease_ || each.of->given_up_ || !each.of->lease_->held()) continue;
    if (mode_of(*each.of->lease_).value_or(each.in) == each.in) both.push_back(each);
  }
  judge(both);
}

void observer::judge(const std::vector<sample>& together) {
  std::map<std::string, std::uint64_t> permits;
  for (std::size_t i = 0; i < together.size(); ++i) {
    const auto& what = together[i].of->what();
    permits[what.lock] += what.has.permits;
    for (std::size_t j = 0; j < i; ++j) judge_pair(together[i], together[j]);
  }
  for (const auto& [lock, used] : permits) {
    const auto most = most_permits(lock);
    if (used != 0 && used > most) {
      say(together_only,
          std::to_string(used) + " permits of " + lock + " in use, of " + std::to_string(most));
    }
  }
}

void observer::judge_pair(const sample& a, const sample& b) {
  const auto &one = a.of->what(), &other = b.of->what();
  if (one.lock != other.lock) return;
  if (one.same_hold != 0 && one.same_hold == other.same_hold) return;
  {
    const std::lock_guard lock(guard_);
    if (std::ranges::find(excused_, one.lock) != excused_.end()) return;
  }
  if (one.family != other.family) {
    say(exclusion, "two kinds at once: " + describe(*a.of) + "; " + describe(*b.of));
  } else if (one.has.permits == 0 && !go_together(a.in, b.in)) {
    say(one.family == "mutex" ? exclusion : together_only,
        "both believed at once: " + describe(*a.of) + ", in " + name_of(a.in) + "; " +
            describe(*b.of) + ", in " + name_of(b.in));
  }
}

// A grant that was asked for after another had ended is the later one, whatever the clocks say.
void observer::judge_tokens(const watched& newest,
                            const std::vector<std::shared_ptr<watched>>& others) {
  const auto& what = newest.what();
  const auto token = newest.token();
  if (!token) return;
  for (const auto& other : others) {
    const auto& before = other->what();
    if (before.lock != what.lock) continue;
    if (before.same_hold != 0 && before.same_hold == what.same_hold) continue;
    const auto old = other->token();
    if (old == token) {
      say(grow, "one token twice: " + what.who + " and " + before.who + " have " +
                    token.to_string() + " of " + what.lock);
    }
    const auto ended = other->ended_.load();
    if (!old || ended == 0 || ended > ticks(what.asked) || token > old) continue;
    const bool strict = what.ordered && before.ordered;
    if (strict || writes(what.has.in) || writes(before.has.in)) {
      say(strict ? grow : writers_order, what.who + " asked after the end of " + describe(*other) +
                                             " and got only " + token.to_string());
    }
  }
}

}  // namespace holdfast::reference
