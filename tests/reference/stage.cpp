#include "reference/stage.hpp"

#include <poll.h>

#include <algorithm>
#include <sstream>

#include "net/clock.hpp"
#include "reference/promises.hpp"
#include "reference/stage_call.hpp"

namespace holdfast::reference {
namespace {

constexpr milliseconds patience{8'000};  // more than the two seconds of L2, on a busy machine
constexpr milliseconds never{60'000};
// How long the request may have taken that confirmed a provisional grant, or renewed a lease.
constexpr milliseconds confirming{1'000};

std::string shown_share(const lock_share& share) {
  return share.permits != 0 ? std::to_string(share.permits) + " permits" : share.mode;
}

}  // namespace

stage::stage(run& choices, held_kind& kind)
    : run_(choices), kind_(kind), name_(choices.fresh_name()), observer_(choices) {
  observer_.allow(name_, kind.permits());
}

stage::~stage() {
  for (auto& one : waiters_) one.at->stop.request_stop();
}

bool stage::anybody_waits() const {
  return std::ranges::any_of(waiters_, [](const waiter& one) { return one.granted == 0; });
}

bool stage::a_change_waits() const {
  return std::ranges::any_of(
      waiters_, [](const waiter& one) { return one.granted == 0 && one.changes.has_value(); });
}

stage::holder* stage::find(std::uint64_t id) {
  const auto at = std::ranges::find(holders_, id, &holder::id);
  return at == holders_.end() ? nullptr : &*at;
}

bool stage::has_pending_change(std::uint64_t id) const {
  return std::ranges::any_of(waiters_, [&](const waiter& one) { return one.changes == id; });
}

std::vector<want> stage::wants(std::optional<std::uint64_t> without) const {
  std::vector<want> all;
  for (const auto& one : holders_) {
    if (one.id != without) all.push_back(one.has);
  }
  return all;
}

// Changes in the order of arrival; true: something was granted.
bool stage::settle_changes(bool& blocked) {
  bool any = false;
  for (auto& one : waiters_) {
    if (one.granted != 0 || !one.changes || one.loses || one.stopped || one.ends_by_itself) {
      blocked = blocked || (one.granted == 0 && one.changes && !one.loses && !one.stopped);
      continue;
    }
    auto* const from = find(*one.changes);
    if (from == nullptr) continue;
    if (no_more(one.asked.in, from->has.in) || kind_.admits(wants(from->id), one.asked)) {
      one.granted = ++orders_;
      from->has = one.asked;
      any = true;
    } else {
      blocked = true;
    }
  }
  return any;
}

bool stage::settle() {
  bool any = false;
  for (bool again = true; again;) {
    bool blocked = false;
    again = settle_changes(blocked);
    for (auto& one : waiters_) {
      if (blocked || one.changes || one.granted != 0 || one.stopped) continue;
      if (!kind_.admits(wants(), one.asked) || one.ends_by_itself || one.asks_too_much) break;
      one.granted = ++orders_;
      add({.id = one.id,
           .at = nullptr,
           .has = one.asked,
           .on = one.on,
           .by = one.by,
           .asked = one.on.lease,
           .order = one.granted});
      again = true;
    }
    any = any || again;
  }
  return any;
}

void stage::add(holder one) {
  keeper_.reset();
  holders_.push_back(std::move(one));
}

// Leases that are not renewed and have ended; true: there were some.
bool stage::take_out_the_ended() {
  bool any = false;
  for (auto at = holders_.begin(); at != holders_.end();) {
    // A lease that was changed is not held either, but tells no loss.
    const bool becomes_another =
        has_pending_change(at->id) && at->at && !at->at->look().lost().stop_requested();
    if (!at->at || becomes_another || at->at->look().held()) {
      ++at;
      continue;
    }
    auto ended = std::move(*at);
    run_.expect(ended.on.fixed, promises::renewed, who(ended.id, ended.by) + " has lost its lease");
    at = holders_.erase(at);
    for (auto& one : waiters_) one.loses = one.loses || one.changes == ended.id;
    run_.noted("(the lease of " + who(ended.id, ended.by) + " has ended)");
    harass(ended);
    any = true;
  }
  return any;
}

void stage::await_short_leases(milliseconds margin) {
  const auto limit = net::now() + never;
  for (;;) {
    milliseconds least = never;
    for (const auto& one : holders_) {
      if (one.on.fixed) least = std::min(least, one.at->look().remaining());
    }
    if (least >= margin) return;
    run_.expect(net::now() < limit, promises::belief, "leases that are about to end do not");
    ::poll(nullptr, 0, static_cast<int>(std::max<std::int64_t>(least.count(), 1)));
    converge();
  }
}

void stage::converge() {
  auto limit = net::now() + patience;
  std::string why;
  for (int pause_ms = 0;; pause_ms = std::min(pause_ms + 1, 10)) {
    observer_.check();
    const bool ended = take_out_the_ended();
    if (settle() || ended) limit = net::now() + patience;
    why = behind();
    if (why.empty()) return;
    if (net::now() > limit) {
      run_.disagree(anybody_waits() || !waiters_.empty() ? promises::handed_over : promises::shown,
                    why);
    }
    ::poll(nullptr, 0, pause_ms);
  }
}

std::string stage::behind() {
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    bool gone = false;
    if (const auto why = behind_of(*at, gone); !why.empty()) return why;
    at = gone ? waiters_.erase(at) : at + 1;
  }
  return differs_from_server();
}

std::string stage::behind_of(waiter& one, bool& gone) {
  const auto name = who(one.id, one.by);
  const auto waits_for = one.granted != 0     ? "ok"
                         : one.loses          ? "lost"
                         : one.asks_too_much  ? "invalid_argument"
                         : one.stopped        ? "cancelled"
                         : one.ends_by_itself ? "timed_out"
                                              : "nothing";
  if (!one.at->done) {
    const bool fine = std::string(waits_for) == "nothing";
    return fine ? "" : name + " still waits, and should have: " + waits_for;
  }
  const bool other_error = one.asks_too_much && one.stopped && one.at->outcome == "cancelled";
  if (one.at->outcome != waits_for && !other_error) {
    return name + " returned with " + one.at->outcome + ", and should have: " + waits_for;
  }
  gone = true;
  run_.noted("(" + name + " returned: " + one.at->outcome + ")");
  if (one.granted != 0) {
    one.changes ? adopt_change(one) : adopt(one);
  } else if (one.ends_by_itself) {
    run_.expect(
        one.at->returned - one.at->began >= milliseconds{19}, promises::once,
        name + " timed out after " + std::to_string(in_ms(one.at->returned - one.at->began)));
  }
  return "";
}

void stage::adopt(waiter& one) {
  auto* const holds = find(one.id);
  if (holds == nullptr) return;
  holds->at = one.at->got;
  holds->window = confirming;
  judge_token(*holds, std::nullopt);
}

void stage::adopt_change(waiter& one) {
  auto* const holds = find(*one.changes);
  if (holds == nullptr) return;
  const auto old = std::move(holds->at);
  run_.expect(!old->look().held(), promises::changed, "what was changed still says held");
  run_.expect(!old->look().lost().stop_requested(), promises::changed, "a change told a loss");
  holds->at = one.at->got;
  holds->on = one.on;
  holds->window = confirming;
  holds->asked = std::max(holds->asked, one.on.lease);
  holds->order = one.granted;
  holds->by_this_thread = false;
  judge_token(*holds, old->token());
}

void stage::judge_token(const holder& one, std::optional<fencing_token> before) {
  const auto token = one.at->token();
  run_.expect(static_cast<bool>(token) == kind_.has_token(), promises::tokens,
              "the token of " + who(one.id, one.by) + " is " + token.to_string());
  if (!token) return;
  const bool ordered = !(one.has.in == mode::pr && kind_.passed_on(one.has, one.on)) && !before;
  for (const auto& other : grants_) {
    if (other.hold == one.id && before && !writes(one.has.in)) continue;
    const bool matters = (ordered && other.ordered) || writes(one.has.in) || writes(other.has.in);
    if (!matters || other.order == one.order) continue;
    const bool kept = other.order < one.order ? token > other.token : token < other.token;
    run_.expect(kept, promises::tokens,
                who(one.id, one.by) + " has token " + token.to_string() + " for " +
                    text_of(one.has) + ", grant " + std::to_string(one.order) + "; grant " +
                    std::to_string(other.order) + " (" + text_of(other.has) + ") had " +
                    other.token.to_string());
  }
  if (before) {
    run_.expect(token >= *before, promises::tokens, "a change has a smaller token than before");
  }
  grants_.push_back({one.order, one.has, token, ordered, one.id});
}

std::string stage::differs_from_server() {
  const auto before = net::now();
  const auto seen = run_.on().looks().status(name_);
  return differs(seen, before, net::now());
}

std::string stage::differs(const lock_status& seen, monotonic_time before, monotonic_time after) {
  const bool kept = holders_.empty() && keeper_;
  if (holders_.empty()) {
    if (!kept && seen.state != lock_state::free) return "status: it is not free: " + seen.detail;
    return differs_in_queue(seen);
  }
  if (seen.state != lock_state::held) return "status: nobody holds it";
  if (seen.kind != kind_.shown()) return "status: it is of another kind";
  if (seen.holding != holders_.size() || seen.holders.size() != holders_.size()) {
    return "status: " + std::to_string(seen.holding) +
           " hold it, and should: " + std::to_string(holders_.size());
  }
  std::uint64_t permits = 0;
  for (const auto& one : holders_) {
    permits += one.has.permits;
    const auto token = one.at->token();
    const auto shown = std::ranges::find_if(seen.holders, [&](const lock_holding& each) {
      const bool same =
          kind_.shown() == lock_kind::mutex || shown_share(each.has) == text_of(one.has);
      // docs/kinds.md: "If a client had to wait for a mutex without tokens, the queue grants it and
      // numbers the grant. `status` shows that number". Nor does one say what is shown where a kept
      // lock was taken again without the server.
      return same && (each.token == token || !kind_.has_token() ||
                      (one.on.retain.count() > 0 && each.token < token));
    });
    if (shown == seen.holders.end()) {
      std::string others;
      for (const auto& each : seen.holders) {
        others += " " + shown_share(each.has) + " " + each.token.to_string();
      }
      return "status: " + who(one.id, one.by) + " is not shown with " + text_of(one.has) +
             " and token " + token.to_string() + ", but:" + others;
    }
    if (const auto why = belief_differs(one, *shown, before, after); !why.empty()) return why;
  }
  if (kind_.permits() != 0 && seen.permits_in_use != permits) {
    return "status: " + std::to_string(seen.permits_in_use) +
           " permits in use, and should: " + std::to_string(permits);
  }
  if (kind_.permits() != 0 && seen.permits != said_permits_) return "status: other permits";
  if (!changed_ && !std::ranges::is_sorted(seen.holders, {}, &lock_holding::token)) {
    return "status: the holders are not in the order of their grants";
  }
  return differs_in_queue(seen);
}

std::string stage::differs_in_queue(const lock_status& seen) const {
  std::vector<std::string> expected, shown;
  for (const bool changes : {true, false}) {
    for (const auto& one : waiters_) {
      if (one.granted == 0 && one.changes.has_value() == changes) {
        expected.push_back(kind_.shown() == lock_kind::mutex ? "" : text_of(one.asked));
      }
    }
  }
  for (const auto& one : seen.queue) shown.push_back(shown_share(one.wants));
  if (shown == expected && seen.waiting == expected.size()) return "";
  std::ostringstream text;
  text << "status: " << seen.waiting << " wait (";
  for (const auto& one : shown) text << one << " ";
  text << "), and should: " << expected.size() << " (";
  for (const auto& one : expected) text << one << " ";
  text << ")";
  return text.str();
}

// S3: never more than the server has, and all of that but what is taken off for doubt: a hundredth,
// and more while the kernel corrects its clock.
std::string stage::belief_differs(const holder& one, const lock_holding& shown,
                                  monotonic_time before, monotonic_time after) const {
  if (!shown.remaining) return "status: no time left is shown";
  const auto left = *shown.remaining;
  const auto first = net::now();
  const auto believed = one.at->look().remaining();
  const auto last = net::now();
  const auto text = who(one.id, one.by) + " believes " + std::to_string(believed.count()) +
                    " ms, and the server has " + std::to_string(left.count()) + " ms";
  if (believed.count() > 0 && first + believed > after + left + milliseconds{2}) return text;
  const auto longest = std::max(one.asked, left);
  const auto doubt = one.window + longest / 50 + (one.on.fixed ? milliseconds{8} : confirming);
  if (last + believed + doubt < before + left) return text;
  if (one.at->look().lost().stop_requested()) return who(one.id, one.by) + " was told a loss";
  return "";
}

bool stage::all_certain() const {
  return std::ranges::all_of(holders_,
                             [](const holder& one) { return one.at && one.at->look().held(); });
}

std::string stage::who(std::uint64_t id, std::size_t by) const {
  return "request " + std::to_string(id) + " of client " + std::to_string(by);
}

claim stage::claim_of(const want& asked, std::size_t by, std::uint64_t hold,
                      const terms& how) const {
  return {.lock = name_,
          .family = kind_.family(),
          .has = asked,
          .ordered = !(asked.in == mode::pr && kind_.passed_on(asked, how)),
          .same_hold = hold,
          .asked = net::now(),
          .who = who(hold, by)};
}

std::shared_ptr<stage::call> stage::start(const lock& what, const claim& as, milliseconds timeout) {
  auto at = std::make_shared<call>();
  at->begin(what, as, timeout, observer_);
  return at;
}

}  // namespace holdfast::reference
