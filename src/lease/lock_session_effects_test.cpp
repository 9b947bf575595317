// The effects of a session at every event in every state, as lock_session_effects.txt tells them.
// HOLDFAST_WRITE_STORIES=1 writes that text anew, and shows the effects of a change.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/key_space.hpp"
#include "lease/answers_for_tests.hpp"
#include "lease/lock_session.hpp"
#include "lease/session_states_for_tests.hpp"
#include "lease/step_text_for_tests.hpp"

namespace holdfast::leasing {
namespace {

using std::chrono::seconds;
using event_list = std::vector<std::string_view>;

std::string_view name_of(change_news what) {
  constexpr std::string_view names[] = {"none", "may become", "stays", "may stay", "cannot stay"};
  return names[static_cast<std::size_t>(what)];
}

// In microseconds since the test began.
std::string moment(monotonic_time when) {
  if (when == monotonic_time{}) return "never";
  const auto since = std::chrono::floor<microseconds>(when - local_start);
  return "+" + std::to_string(since.count()) + " us";
}

std::string in_words(const outcome& how) {
  if (!how.code) return "well";
  return make_error_code(*how.code).message() + (how.detail.empty() ? "" : ": " + how.detail);
}

std::string in_words(const effects& all) {
  std::vector<std::string> words;
  if (all.learned) words.emplace_back("learn the time");
  if (all.to_changed != change_news::none) {
    words.push_back("tell the changed one: " + std::string{name_of(all.to_changed)});
  }
  if (all.granted) words.push_back("granted " + moment(*all.granted));
  if (all.gives_back) words.emplace_back("given back");
  if (all.wake_at) words.push_back("wake at " + moment(*all.wake_at));
  if (all.stops_timer) words.emplace_back("no timer");
  if (all.lost) words.emplace_back("lost");
  if (all.renew) words.emplace_back("renew");
  if (all.replicate) words.emplace_back("replicate");
  if (all.send != ask::nothing) words.push_back("send " + std::string{name_of(all.send)});
  if (all.resend) words.emplace_back("again");
  if (all.unheard) words.emplace_back("unheard");
  if (all.tell) words.emplace_back("tell the caller");
  if (all.ended) words.push_back(in_words(*all.ended));
  std::string text;
  for (const auto& one : words) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "nothing" : text;
}

// The life of one request.
class life {
 public:
  struct variant {
    std::string_view name;
    lock_session::terms terms{};
    bool waits = true;
    milliseconds delay{};
    std::optional<nanoseconds> changes{};  // the time left of the lease that it is to change
    const variant* as{};                   // only differences from that are told
  };

  explicit life(const variant& which) : variant_(which) {
    left_ = which.changes;
    claim_.key = &key_;
    claim_.delay = short_milliseconds{which.delay};
    claim_.floor = usual_major - 1;
    claim_.wants = which.changes ? &changed_ : &wanted_;
    const auto until = which.waits ? monotonic_time::max() : monotonic_time{};
    session_.emplace(claim_, patience{which.waits, until}, which.terms);
  }

  std::string play(std::string_view event);
  std::string about() const;

 private:
  effects happen(std::string_view event);

  const variant variant_;
  const lock_key key_{key_space{}, "a"};
  substrate::demand wanted_{.mode = 'x'};
  substrate::demand changed_{.mode = 'x', .replaced = request_id(client_id({1, 2, 3}), 9)};
  substrate::claim claim_ = test_claim();
  std::optional<lock_session> session_;
  std::optional<nanoseconds> left_;  // of the lease that it is to change
  monotonic_time now_ = local_start;
  outcome how_;
};

using happening = std::function<effects(lock_session&, monotonic_time)>;

happening answer(substrate::acquire_verdict said, milliseconds travelled = {}) {
  return [=](auto& its, auto now) { return its.on_acquired(said, now - travelled, now); };
}
happening missing(no_answer how) {
  return [=](auto& its, auto now) { return its.on_missing(how, {errc::unavailable, "cut"}, now); };
}
happening back(substrate::release_verdict said) {
  return [=](auto& its, auto now) { return its.on_given_back(said, now); };
}
happening renewal(substrate::renew_verdict said, bool is_changed = false) {
  return [=](auto& its, auto now) { return its.on_renewed(said, now, is_changed, now); };
}
happening news(change_news what) {
  return [=](auto& its, auto now) { return its.on_change(what, 'r', now); };
}
happening replicas(std::optional<outcome> refusal) {
  return [=](auto& its, auto now) { return its.on_replicated(refusal, now); };
}
happening just(effects (lock_session::*event)(monotonic_time)) {
  return [=](auto& its, auto now) { return (its.*event)(now); };
}
effects extending(lock_session& its, monotonic_time) {
  its.on_extending(seconds(20));
  return {};
}

const std::map<std::string_view, happening> ordinary_events{
    {"begin", just(&lock_session::begin)},
    {"granted", answer(say("granted", 10'000), milliseconds(1))},
    {"busy", answer(say("busy for", 700))},
    {"queued", answer(say_queued(2, milliseconds(700), true))},
    {"late", answer(say("late", 5))},
    {"refused", answer(say("refused", errc::permission_denied))},
    {"unanswered", missing(no_answer::unknown)},
    {"unanswered late", missing(no_answer::unknown)},
    {"unanswered later", missing(no_answer::unknown)},
    {"not sent", missing(no_answer::not_sent)},
    {"handed over",
     [](auto& its, auto now) {
       return its.on_handed_over({usual_major, milliseconds(1000)}, now, now, 5);
     }},
    {"first in line",
     [](auto& its, auto now) { return its.on_first_in_line(milliseconds(300), now, 5); }},
    {"woken", just(&lock_session::on_woken)},
    {"tuned in", [](auto& its, auto now) { return its.on_tuned_in(true, now); }},
    {"deaf", just(&lock_session::on_deaf)},
    {"timer", just(&lock_session::on_timer)},
    {"given back", back(say_back("released"))},
    {"not undone", back(say_back("not undone"))},
    {"back refused", back(say_back("passing", errc::loading))},
    {"stop", just(&lock_session::on_stop)},
    {"abandon", just(&lock_session::abandon)},
    {"enough", replicas({})},
    {"too few", replicas(outcome{errc::unavailable, "too few"})},
    {"renewed", renewal(substrate::renewed{milliseconds(10'000)})},
    {"not mine", renewal(substrate::not_mine{})},
    {"not mine, being changed", renewal(substrate::not_mine{}, true)},
    {"no renewal", just(&lock_session::on_renewal_missing)},
    {"doubt", just(&lock_session::on_doubt)},
    {"extending", extending},
    {"replaced", [](auto& its, auto) { return its.on_replaced(); }},
    {"may become r", news(change_news::may_become)},
    {"stays", news(change_news::stays)},
    {"may stay", news(change_news::may_stay)},
    {"cannot stay", news(change_news::cannot_stay)},
    {"release", just(&lock_session::release)},
    {"back divided", back(say_back("divided", errc::server_busy))},
    {"back unfinished", back(say_back("more"))},
};

// How much later than a millisecond some events come.
const std::map<std::string_view, milliseconds> waits_before{
    {"timer", seconds(11)}, {"unanswered late", seconds(14)}, {"unanswered later", seconds(30)}};

// Events of the lease that this request is to change.
const std::map<std::string_view, nanoseconds> fates{{"the other ends", nanoseconds(0)},
                                                    {"the other is lost", lock_session::none_left}};

const std::map<std::string_view, std::pair<substrate::renew_verdict, bool>> extensions{
    {"extended", {substrate::renewed{milliseconds(20'000)}, false}},
    {"extended to little", {substrate::renewed{milliseconds(1)}, false}},
    {"not extended", {substrate::refused{errc::loading, true, "loading", false}, false}},
    {"extended another's", {substrate::not_mine{}, false}},
    {"extended, being changed", {substrate::not_mine{}, true}},
};

effects life::happen(std::string_view event) {
  if (const auto found = fates.find(event); found != fates.end()) {
    if (left_) left_ = found->second;
    return {};
  }
  if (left_) session_->note_changed(*left_);
  if (const auto found = extensions.find(event); found != extensions.end()) {
    auto said =
        session_->on_extended(found->second.first, seconds(20), now_, found->second.second, now_);
    how_ = std::move(said.how);
    return said.then;
  }
  return ordinary_events.at(event)(*session_, now_);
}

std::string life::play(std::string_view event) {
  how_ = {};
  const auto waited = waits_before.find(event);
  now_ += waited == waits_before.end() ? milliseconds(1) : waited->second;
  auto text = in_words(happen(event));
  if (how_.code) text += ", told: " + in_words(how_);
  return text;
}

std::string life::about() const {
  const auto state = session_->present_state();
  auto text = std::string{name_of(state)} + ", mode " + session_->mode();
  if (session_->has_lease()) text += ", until " + moment(session_->deadline());
  if (session_->delays_closing()) text += ", delays closing";
  if (session_->is_asking()) text += ", until " + moment(session_->executable_until());
  if (claim_.forsakes) text += ", forsakes";
  if (claim_.replaced_lease > short_milliseconds{0}) {
    text += ", instead of " + std::to_string(milliseconds(claim_.replaced_lease).count()) + " ms";
  }
  text += ", major " + std::to_string(claim_.granted);
  const auto why = session_->why_unconfirmed();
  return text + (why.ends_with(')') ? why.substr(why.rfind(" (")) : "");
}

const life::variant plain{.name = "plain"};
const life::variant changing{
    .name = "changes what lasts for 3 s", .changes = seconds(3), .as = &plain};

const std::vector<life::variant> variants{
    plain,
    {.name = "asks once", .waits = false, .as = &plain},
    {.name = "with a delay, of a slot",
     .terms = {.is_of_a_slot = true},
     .delay = milliseconds(500),
     .as = &plain},
    {.name = "replicated", .terms = {.needs_replicas = true}, .as = &plain},
    {.name = "a gate, not renewed", .terms = {.renews = false, .is_gate = true}, .as = &plain},
    changing,
    {.name = "changes what ends now", .changes = nanoseconds(0), .as = &changing},
    {.name = "changes what ends in 1 ns", .changes = nanoseconds(1), .as = &changing},
    {.name = "changes what was lost", .changes = lock_session::none_left, .as = &changing},
};

const std::vector<event_list> paths{
    {},
    {"stop"},
    {"begin"},
    {"begin", "queued"},
    {"begin", "doubt", "unanswered"},
    {"begin", "busy"},
    {"begin", "stop"},
    {"begin", "unanswered", "abandon"},
    {"begin", "granted"},
    {"begin", "queued", "handed over"},
    {"begin", "doubt", "granted"},
    {"begin", "granted", "may become r", "may stay"},
    {"begin", "granted", "extending", "release"},
    {"begin", "granted", "not mine"},
    {"begin", "granted", "replaced"},
    {"begin", "granted", "release"},
    {"begin", "granted", "release", "back refused"},
    {"begin", "granted", "abandon"},
    {"begin", "the other ends"},
    {"begin", "the other is lost"},
    {"begin", "queued", "the other ends"},
    {"begin", "queued", "the other is lost"},
    {"begin", "granted", "may become r", "may stay", "doubt"},
    {"begin", "granted", "release", "unanswered"},
    {"begin", "granted", "release", "back divided"},
    {"begin", "granted", "extending", "release", "unanswered"},
};

// Of one path: the effects of each event, by its name; the empty name stands for the path itself.
std::map<std::string, std::string> all_of_path(const life::variant& which, const event_list& path) {
  std::map<std::string, std::string> all;
  const auto after_path = [&] {
    auto one = std::make_unique<life>(which);
    for (const auto event : path) one->play(event);
    return one;
  };
  const auto before = after_path()->about();
  const auto note = [&](std::string_view event) {
    const auto one = after_path();
    auto said = one->play(event);
    const auto after = one->about();
    if (after != before) said += " -> " + after;
    all.emplace(event, std::move(said));
  };
  for (const auto& [event, how] : ordinary_events) note(event);
  for (const auto& [event, how] : extensions) note(event);
  life one{which};
  std::string steps;
  for (const auto event : path) steps += std::string{event} + ": " + one.play(event) + "; ";
  all.emplace("", steps + before);
  return all;
}

// All of the first, and of each other one what differs from the one before whose name it names.
std::string tell_all() {
  std::string text;
  for (const auto& which : variants) {
    for (const auto& path : paths) {
      const auto all = all_of_path(which, path);
      const auto usual =
          which.as == nullptr ? std::map<std::string, std::string>{} : all_of_path(*which.as, path);
      std::string rows;
      for (const auto& [event, said] : all) {
        const auto found = usual.find(event);
        const bool is_usual = found != usual.end() && found->second == said;
        if (is_usual || (usual.empty() && said == "nothing")) continue;
        rows += (event.empty() ? "so far" : event) + ": " + said + "\n";
      }
      if (rows.empty()) continue;
      text += "== " + std::string{which.name} + ":";
      for (const auto event : path) text += " " + std::string{event} + ";";
      text += "\n" + rows + "\n";
    }
  }
  return text;
}

TEST(LockSessionEffects, AreToldAgain) {
  std::ifstream file(HOLDFAST_SESSION_EFFECTS);
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  const auto told = tell_all();
  if (std::getenv("HOLDFAST_WRITE_STORIES") != nullptr) {
    std::ofstream(HOLDFAST_SESSION_EFFECTS) << told;
  } else {
    EXPECT_TRUE(told == written) << "HOLDFAST_WRITE_STORIES=1 shows what has changed";
  }
}

}  // namespace
}  // namespace holdfast::leasing
