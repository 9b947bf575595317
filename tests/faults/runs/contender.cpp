#include "faults/runs/contender.hpp"
#include "support/pause.hpp"

#include <utility>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;
using history::nanoseconds;

constexpr milliseconds longest_change{300};

}  // namespace

// A lease that is watched, and whose loss is told.
class contender::possession {
 public:
  possession(lease got, const event& turn, recorder& log, observer& by) : lease_(std::move(got)) {
    on_loss_.emplace(lease_.lost(), [this, turn, &log] {
      auto lost = turn;
      lost.what = kind::lost;
      log.record(lost);
      told_ = true;
    });
    watch_.emplace(by, lease_, turn);
  }

  const lease& look() const { return lease_; }
  const std::atomic<bool>& told() const { return told_; }

  // From now on nobody looks at it.
  lease& alone() {
    watch_.reset();
    on_loss_.reset();
    return lease_;
  }

 private:
  lease lease_;
  std::atomic<bool> told_{false};
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
  std::optional<observer::watch> watch_;
};

contender::contender(std::vector<contended> locks, const std::string& resources, tokens mode,
                     std::int64_t process, nanoseconds until, recorder& log, observer& sees,
                     std::uint64_t seed)
    : locks_(std::move(locks)),
      resource_(resources, mode),
      process_(process),
      until_(until),
      log_(log),
      sees_(sees),
      random_(seed) {}

void contender::run() {
  while (time_now() < until_) {
    take(locks_[any(locks_.size())], any(4) == 0 ? milliseconds(100) : milliseconds(5000));
    support::pause(milliseconds(any(4)));
  }
  for (const auto& one : locks_) take(one, milliseconds(20'000));
}

void contender::take(const contended& one, milliseconds timeout) {
  const auto& way = one.ways[any(one.ways.size())];
  least_hold_ = one.least_hold;
  turn_ = {.process = process_, .operation = log_.next_operation(), .lock = one.name};
  tell(kind::called, [&](event& call) {
    call.until = call.time + timeout;
    call.lease = *one.options.lease;
    call.part = way.part;
    call.whole = way.whole;
    call.note = one.options.fair ? "fair" : way.joins ? "joins" : "";
  });
  auto got = way.target.try_acquire({.timeout = timeout});
  if (got) return hold(*std::move(got), one, way);
  const bool unclear = got.error().reason() == errc::unavailable;
  tell(unclear ? kind::unclear : kind::failed,
       [&](event& failed) { failed.note = got.error().what(); });
}

void contender::hold(lease got, const contended& of, const access& way) {
  auto mine = possess(std::move(got), kind::won);
  use(mine->look(), way.part == way.whole);
  while (way.change && any(3) != 0 && change(mine, of, way)) use(mine->look(), true);
  if (!look(mine->look())) wait_for(mine->told());
  auto& lease = mine->alone();
  tell(kind::releasing, [](event& one) { one.until = one.time + patience; });
  const auto released = lease.release();
  tell(kind::released, [&](event& one) { one.note = released ? "" : released.error().what(); });
}

// Watched after it has been told of.
std::unique_ptr<contender::possession> contender::possess(lease got, kind how) {
  turn_.token = got.token().value();
  turn_.mode = mode_of(got);
  tell(how, [&](event& one) { one.until = one.time + got.remaining(); });
  return std::make_unique<possession>(std::move(got), turn_, log_, sees_);
}

// Whether it has something still: in place of what was, or the same as before.
bool contender::change(std::unique_ptr<possession>& mine, const contended& of, const access& way) {
  const auto wanted = way.change(mine->look(), random_);
  if (!wanted) return false;
  const milliseconds timeout(any(longest_change.count()));
  tell(kind::changing, [&](event& one) {
    one.until = one.time + timeout;
    one.lease = *of.options.lease;
    one.mode = wanted->to;
  });
  auto got = wanted->target.try_acquire({.timeout = timeout});
  if (got) {
    mine = possess(*std::move(got), kind::changed);
    return true;
  }
  tell(kind::unchanged, [&](event& one) { one.note = got.error().what(); });
  // Nobody may have said whether it was changed: then it has what both modes have in common.
  turn_.mode = mode_of(mine->look());
  return turn_.mode.has_value();
}

// Counts rather than looks at a clock: the process may be frozen meanwhile.
void contender::wait_for(const std::atomic<bool>& told) {
  for (int i = 0; i < 200 && !told; ++i) support::pause(milliseconds(5));
}

void contender::tell(kind what, const std::function<void(event&)>& details) {
  auto one = turn_;
  one.time = time_now();
  one.what = what;
  details(one);
  log_.record(one);
}

}  // namespace holdfast::faults
