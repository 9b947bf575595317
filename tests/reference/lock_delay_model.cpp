// Locks with a delay.
//
//   options.hpp, lock_delay: "How long nobody gets the lock after a lease that ended without a
//     release [...]. A release hands over at once, as always".
//   guarantees.md: "With `lock_delay` nobody gets the lock for that long after a lease that ended
//     without a release: L1 counts from then."
#include <optional>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/promises.hpp"
#include "reference/wait_call.hpp"
#include "support/eventually.hpp"
#include "support/options_for.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence nobody{"include/holdfast/options.hpp, lock_delay",
                          "How long nobody gets the lock after a lease that ended without a "
                          "release [...]. A release hands over at once, as always"};

lock delayed(run& choices, std::size_t by, const std::string& name, int form,
             const mutex_options& o) {
  if (form == 0) return choices.of(by).mutex(name, o);
  if (form == 1)
    return choices.of(by)
        .read_write_lock(name, support::options_for<read_write_options>(o))
        .exclusive();
  return choices.of(by)
      .mode_lock(name, support::options_for<mode_lock_options>(o))
      .in(lock_mode::exclusive);
}

}  // namespace

void play_lock_delay(run& choices) {
  const auto name = choices.fresh_name();
  const auto form = static_cast<int>(choices.below(3));
  const milliseconds lasts{choices.between(60, 200)}, delay{choices.between(100, 300)};
  const bool releases = choices.chance(40), fair = choices.chance(50);
  mutex_options options{
      .lease = lasts, .renewal = renewal::none, .fair = fair, .lock_delay = delay};
  std::optional held =
      delayed(choices, 0, name, form, options).acquire({.timeout = milliseconds{5'000}});
  choices.did("form " + std::to_string(form) + ", lease " + std::to_string(lasts.count()) +
              ", delay " + std::to_string(delay.count()) + (releases ? ", released" : ", ends"));
  options.lease = milliseconds{5'000};
  options.renewal = renewal::automatic;
  std::atomic<std::int64_t> came_in{0};
  wait_call waits;
  waits.begin([&, what = delayed(choices, 1, name, form, options)](const std::stop_token& stop) {
    const auto got = what.try_acquire({.timeout = milliseconds{20'000}}, stop);
    came_in = net::now().time_since_epoch().count();
    return outcome_of(got);
  });
  const auto in_queue = [&] { return choices.on().looks().status(name).waiting == 1; };
  (void)support::eventually([&] { return in_queue() || came_in != 0; });
  // The lease ends at the server at this time or later.
  const auto before = net::now();
  const auto left = held->remaining();
  const auto ends = before + left;
  const bool in_time = left > milliseconds{20};
  if (releases && in_time) {
    const auto said = outcome_of(held->release());
    choices.expect(said == "ok", promises::released, "a release said " + said);
  } else {
    choices.expect(support::eventually([&] { return !held->held(); }), promises::belief,
                   "a fixed lease does not end");
  }
  if (!releases && in_time) {
    const auto asked = outcome_of(delayed(choices, 2, name, form, options).try_acquire());
    choices.expect(asked == "busy" || net::now() > ends + delay, nobody,
                   "asked once in the delay: " + asked);
  }
  choices.expect(support::eventually([&] { return waits.said() == "ok"; }, milliseconds{10'000}),
                 nobody, "who waits was not served: " + waits.said());
  const nanoseconds after{came_in - ends.time_since_epoch().count()};
  choices.did("who waits came in after " + std::to_string(in_ms(after)) + " ms");
  if (!releases && in_time) {
    choices.expect(after >= delay, nobody, "it came in too early");
  }
}

}  // namespace holdfast::reference
