// Two kinds under one name.
//
//   errors.md, foreign_key: "the key `hf:{name}` holds something else, maybe a lock of another kind
//     [...]. It is untouched".
//   options.hpp, fencing::off: "If the key holds something that is no lock of ours, the error is
//     merely `busy`."
//   kinds.md: "A read-write lock of the same name is the same lock: readers hold PR, the writer
//   EX." guarantees.md, S1: "In one server's history a lock has at most one holder at any instant."
//   guarantees.md, L2: "A release makes the first of them the holder and notifies it."
//
// One kind has the name: held, wanted, set, or in the gap between the end of a lease and the next
// grant. Then another kind comes. It must be refused, nothing may change, and whoever waits must be
// served. (A plain SET sees no queue, so the lock without tokens may come in in the gap.)
#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "reference/observer.hpp"
#include "reference/promises.hpp"
#include "reference/wait_call.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence one_kind{
    "docs/kinds.md",
    "One name, one kind: while a lock, a latch or a barrier is held, set or waited for, every "
    "other kind is refused under its name (`foreign_key`)."};
constexpr sentence untouched{
    "docs/errors.md, foreign_key",
    "the key `hf:{name}` holds something else, maybe a lock of another kind [...]. "
    "It is untouched"};
constexpr sentence served{
    "docs/guarantees.md, L2",
    "Waiters stand in a queue at the server. A release makes the first of them the holder and "
    "notifies it."};

constexpr sentence opened{
    "docs/kinds.md, Latch and Barrier",
    "When it opens, all waiters go on [...]. A client that waited before the opening goes on even "
    "if the latch is set again before it hears of that. [...] When all parties have arrived, they "
    "go on together"};

// A kind that is held.
struct held_form {
  const char* name;
  const char* family;
  lock (*make)(const client&, const std::string&, milliseconds lease, bool fixed);
  bool plain_set = false;
};

renewal renewed(bool fixed) { return fixed ? renewal::none : renewal::automatic; }

const std::vector<held_form>& held_forms() {
  static const std::vector<held_form> all{
      {"mutex", "mutex",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.mutex(n, {.lease = l, .renewal = renewed(f)});
       }},
      {"fair mutex", "mutex",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.mutex(n, {.lease = l, .renewal = renewed(f), .fair = true});
       }},
      {"mutex without tokens", "mutex",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.mutex(n, {.lease = l, .renewal = renewed(f), .fencing = fencing::off});
       },
       true},
      {"recursive mutex", "mutex",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.recursive_mutex(n, {.lease = l, .renewal = renewed(f)});
       }},
      {"election", "mutex",
       [](const client& c, const std::string& n, milliseconds l, bool) -> lock {
         return c.election(n, {.lease = l});
       }},
      {"writer", "read-write",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.read_write_lock(n, {.lease = l, .renewal = renewed(f)}).exclusive();
       }},
      {"EX", "read-write",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.mode_lock(n, {.lease = l, .renewal = renewed(f)}).in(lock_mode::exclusive);
       }},
      {"semaphore", "semaphore",
       [](const client& c, const std::string& n, milliseconds l, bool f) -> lock {
         return c.semaphore(n, {.permits = 1, .lease = l, .renewal = renewed(f)});
       }}};
  return all;
}

class pair_round {
 public:
  explicit pair_round(run& choices)
      : run_(choices),
        name_(choices.fresh_name()),
        sees_(choices),
        first_(choices.one_of(held_forms())),
        other_(choices.one_of(held_forms())) {
    sees_.allow(name_, 1);
  }
  ~pair_round() {
    for (auto& one : waiting_) one.stop();
  }

  void play() {
    const auto state = run_.below(7);
    const bool same = std::string(first_.family) == other_.family;
    if ((state < 2 || state == 3) && same) return;
    switch (state) {
      case 0:
        return held(0);
      case 1:
        return held(static_cast<int>(run_.between(1, 2)));
      case 2:
        return latch_or_barrier_there();
      case 3:
        return just_expired(false);
      case 4:
        return just_opened();
      default:
        return just_expired(true);
    }
  }

 private:
  lock of_first(std::size_t by, milliseconds lease = milliseconds{20'000}, bool fixed = false) {
    return first_.make(run_.of(by), name_, lease, fixed);
  }

  std::shared_ptr<watched> take(const held_form& form, std::size_t by, milliseconds lease,
                                bool fixed) {
    const auto asked = net::now();
    auto got = form.make(run_.of(by), name_, lease, fixed).try_acquire();
    run_.did(std::string(form.name) + " of client " + std::to_string(by) +
             " asks: " + outcome_of(got));
    if (!got) return nullptr;
    return sees_.watch(std::move(*got), believes(form, by, asked));
  }

  claim believes(const held_form& form, std::size_t by, monotonic_time asked) const {
    return {.lock = name_,
            .family = form.family,
            .has = {mode::ex, std::string(form.family) == "semaphore" ? 1U : 0U},
            .asked = asked,
            .who = std::string(form.name) + " of client " + std::to_string(by)};
  }

  // Clients 1 and 2 wait for the first kind, hold it for a moment, and leave.
  void wait(std::size_t by) {
    run_.did(std::string(first_.name) + " of client " + std::to_string(by) + " waits");
    auto& one = waiting_.emplace_back();
    one.expected = "ok";
    one.begin([this, by, what = of_first(by)](const std::stop_token& stop) {
      const auto asked = net::now();
      auto got = what.try_acquire({.timeout = milliseconds{20'000}}, stop);
      if (!got) return outcome_of(got);
      const auto has = sees_.watch(std::move(*got), believes(first_, by, asked));
      run_.noted(has->what().who + " came in with token " + has->token().to_string());
      // Long enough for the observer to see who else believes it.
      const auto seen = sees_.rounds();
      (void)support::eventually([&] { return sees_.rounds() > seen + 15; }, milliseconds{3'000});
      has->ends();
      ++served_;
      has->alone([](lease& held) { return held.release(); }).value();
      return std::string("ok");
    });
  }

  // Where the holder may have gone meanwhile, whoever waits may be in already.
  void queue_up(std::size_t count, const watched& behind) {
    for (std::size_t by = 1; by <= count; ++by) {
      wait(by);
      run_.expect(support::eventually([&] {
                    return run_.on().looks().status(name_).waiting >= by || !behind.look().held();
                  }),
                  served, "who waits does not stand in the queue");
    }
  }

  // Another kind comes while the first is held, and perhaps wanted: nothing may change.
  void held(int waiters) {
    auto has = take(first_, 0, milliseconds{20'000}, false);
    run_.expect(has != nullptr, promises::once, "a free lock was refused");
    queue_up(static_cast<std::size_t>(waiters), *has);
    const auto before = run_.on().looks().status(name_);
    refuse_held();
    refuse_gates();
    const auto after = run_.on().looks().status(name_);
    run_.expect(has->look().held() && after.token == before.token &&
                    after.waiting == before.waiting && after.kind == before.kind,
                untouched, "what was refused has changed something");
    sees_.check();
    has->drop();
    all_served();
  }

  void refuse_held() {
    const auto waits = run_.chance(40);
    const auto got =
        other_.make(run_.of(3), name_, milliseconds{20'000}, false)
            .try_acquire({.timeout = waits ? std::optional{milliseconds{60}} : std::nullopt});
    run_.did(std::string(other_.name) + (waits ? " waits: " : " asks: ") + outcome_of(got));
    const auto said = outcome_of(got);
    run_.expect(said == "foreign_key" || (other_.plain_set && said == "busy"), untouched,
                std::string(other_.name) + " under the name of a " + first_.name + " said " + said);
  }

  void refuse_gates() {
    const auto latch = outcome_of_call([&] { (void)run_.of(3).latch(name_).try_set(1); });
    const auto down = outcome_of_call([&] { (void)run_.of(3).latch(name_).count_down(); });
    const auto barrier = outcome_of(run_.of(3).barrier(name_, 2).try_arrive_and_wait());
    run_.did("a latch: " + latch + ", " + down + "; a barrier: " + barrier);
    run_.expect(latch == "foreign_key" && down == "foreign_key" && barrier == "foreign_key",
                untouched, "a latch said " + latch + " and " + down + ", a barrier " + barrier);
  }

  void latch_or_barrier_there() {
    const bool is_latch = run_.chance(50);
    if (is_latch) {
      run_.expect(run_.of(0).latch(name_).try_set(1), untouched, "a free latch cannot be set");
    } else {
      auto& one = waiting_.emplace_back();
      one.expected = "ok";
      one.begin([here = run_.of(0).barrier(name_, 2)](const std::stop_token& stop) {
        return outcome_of(here.try_arrive_and_wait({.timeout = milliseconds{20'000}}, stop));
      });
      run_.expect(support::eventually(
                      [&] { return run_.on().looks().status(name_).state == lock_state::shut; }),
                  promises::shown, "a barrier where somebody waits is not shown");
    }
    run_.did(is_latch ? "a latch is set" : "a party waits at a barrier");
    const auto said =
        outcome_of(other_.make(run_.of(3), name_, milliseconds{20'000}, false).try_acquire());
    run_.did(std::string(other_.name) + " asks: " + said);
    run_.expect(said == "foreign_key" || (other_.plain_set && said == "busy"), untouched,
                std::string(other_.name) + " said " + said);
    if (is_latch) {
      run_.expect(run_.of(0).latch(name_).count_down() == 0, untouched, "the latch does not open");
    } else {
      const auto last = outcome_of(run_.of(1).barrier(name_, 2).try_arrive_and_wait());
      run_.expect(last == "ok", untouched, "the last party got " + last);
    }
    all_served();
  }

  // A latch or a barrier opens, and the name is taken before those who wait there need have heard.
  void just_opened() {
    const bool is_latch = run_.chance(50);
    const auto parties = static_cast<std::uint32_t>(run_.between(2, 3));
    if (is_latch) (void)run_.of(0).latch(name_).try_set(1);
    for (std::uint32_t by = 1; by < parties; ++by) {
      auto& one = waiting_.emplace_back();
      one.expected = "ok";
      one.begin([this, is_latch, by, parties](const std::stop_token& stop) {
        const acquire_options how{.timeout = milliseconds{20'000}};
        if (is_latch) return outcome_of(run_.of(by).latch(name_).try_wait(how, stop));
        return outcome_of(run_.of(by).barrier(name_, parties).try_arrive_and_wait(how, stop));
      });
      run_.expect(
          support::eventually([&] { return run_.on().looks().status(name_).waiting >= by; }),
          served, "who waits does not stand in the queue");
    }
    if (is_latch) {
      (void)run_.of(0).latch(name_).count_down();
    } else {
      (void)run_.of(0).barrier(name_, parties).try_arrive_and_wait();
    }
    run_.did(is_latch ? "a latch was opened" : "a barrier was opened");
    const auto has = take(other_, 3, milliseconds{20'000}, false);
    run_.expect(has != nullptr, promises::once, "the free name was refused");
    for (auto& one : waiting_) {
      run_.expect(support::eventually([&] { return one.said() == "ok"; }, milliseconds{15'000}),
                  opened, "one that waits has: '" + one.said() + "'");
    }
    sees_.check();
    run_.expect(has->look().held(), promises::renewed, "the holder has lost its lock");
    const auto seen = run_.on().looks().status(name_);
    run_.expect(seen.holding == 1 && seen.waiting == 0, promises::shown, "status says another");
    has->drop();
  }

  // The holder is gone without a release, two wait, and another kind comes just then.
  void just_expired(bool gates) {
    const milliseconds lease{run_.between(60, 140)};
    auto has = take(first_, 0, lease, true);
    run_.expect(has != nullptr, promises::once, "a free lock was refused");
    if (std::string(first_.name) == "election") return has->drop();  // always renewed
    queue_up(2, *has);
    const auto until = net::now() + milliseconds{500};
    std::shared_ptr<watched> came_in;
    bool done = false;
    // A holder is observed for some rounds before it leaves: so, while both have not come in and
    // left, somebody holds the lock or waits for it.
    while (!done && net::now() < until && served_ < 2) {
      if (gates) {
        done = try_gate();
      } else if (came_in = take_quietly(); came_in) {
        done = true;
      }
    }
    const bool too_early = done && served_ < 2;
    const auto seen = sees_.rounds();
    (void)support::eventually([&] { return sees_.rounds() > seen + 10; }, milliseconds{3'000});
    sees_.check();
    run_.expect(!too_early || (!gates && other_.plain_set), one_kind,
                "another kind came in while two waited");
    if (came_in) came_in->drop();
    all_served();
  }

  std::shared_ptr<watched> take_quietly() {
    const auto asked = net::now();
    auto got = other_.make(run_.of(3), name_, milliseconds{5'000}, false).try_acquire();
    if (!got) return nullptr;
    run_.did(std::string(other_.name) + " came in after the expiry");
    return sees_.watch(std::move(*got), believes(other_, 3, asked));
  }

  bool try_gate() {
    bool set = false;
    const auto latch = run_.of(3).latch(name_);
    const auto said = outcome_of_call([&] { set = latch.try_set(1); });
    if (said != "ok" || !set) return false;
    (void)outcome_of_call([&] { (void)latch.count_down(); });
    run_.did("a latch was set and opened after the expiry");
    return true;
  }

  void all_served() {
    for (auto& one : waiting_) {
      run_.expect(support::eventually([&] { return !one.said().empty(); }, milliseconds{15'000}),
                  served, "one that waits was never served");
      const auto said = one.said();
      run_.expect(said == one.expected || (said == "foreign_key" && other_.plain_set), served,
                  "one that waits got " + said);
    }
    sees_.check();
  }

  run& run_;
  const std::string name_;
  observer sees_;
  const held_form &first_, &other_;
  std::atomic<int> served_{0};  // how many have come in, and leave
  std::list<wait_call> waiting_;
};

}  // namespace

void play_pairs(run& choices) { pair_round(choices).play(); }

}  // namespace holdfast::reference
