#include "inspection/audit_reading.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "inspection/audit_book.hpp"
#include "inspection/key_scan.hpp"
#include "inspection/lock_names.hpp"
#include "inspection/native_status.hpp"
#include "inspection/registry.hpp"
#include "inspection/survey.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

constexpr std::int64_t break_entries = 1'000;  // that the stream of breaks keeps

// No stream of ours is as long.
constexpr std::size_t most_read = 20'000;

// One of the two streams, page by page. Thread safety: one thread.
template <typename Entry>
class stream {
 public:
  using query = void (*)(std::string_view, std::string_view, resp::writer&);
  using reader =
      std::variant<dialects::stream_page<Entry>, substrate::refused> (*)(const resp::value&);

  stream(runtime::client_core& core, const char* name, query ask, reader read)
      : core_(core), at_(redis_locks::engine_of(core).space(), name), ask_(ask), read_(read) {}

  // Takes what has come since the last call.
  void read_on(audit_book& into) {
    for (bool is_more = true; is_more && read_all_ < most_read;) {
      const auto said =
          calls::ask(core_, at_.slot, [&](resp::writer& out) { ask_(at_.key, next_, out); });
      auto page = calls::accept(read_(said));
      for (auto& one : page.entries) into.add(std::move(one));
      now_ = page.now;
      length_ = page.length;
      if (page.read == 0) return;
      if (read_all_ == 0) first_ = page.first;
      read_all_ += page.read;
      next_ = page.next;
      is_more = page.read == dialects::stream_page_size;
    }
  }

  milliseconds now() const { return now_; }
  // Nothing that was written from then on has been cut off: a stream keeps `kept` entries.
  bool reaches(milliseconds since, std::int64_t kept) const {
    return read_all_ < most_read && (length_ < kept || first_ <= since);
  }

 private:
  runtime::client_core& core_;
  const dialects::stream_place at_;
  const query ask_;
  const reader read_;
  std::string next_ = "-";
  milliseconds now_{};
  milliseconds first_{};
  std::int64_t length_ = 0;
  std::size_t read_all_ = 0;
};

// Of locks that nobody may look at, nothing is known.
audit_witness look_at(runtime::client_core& core, const std::set<std::string>& locks) {
  audit_witness beside;
  const list_options all{.most = locks.size()};
  survey over{core};
  lock_names names{core, "*"};
  shown_locks found{core, over, all};
  for (const auto& name : locks) names.add(name);
  found.look_at(names, all.most);
  for (auto& one : found.all()) beside.held.emplace(one.name, std::move(one));
  try {
    for (auto& one : over.unseen()) {
      if (one.name.empty()) beside.saw_no_others = true;
      beside.unseen.insert(std::move(one.name));
    }
  } catch (const failure& why) {
    if (why.reason() != errc::permission_denied) throw;
    beside.saw_no_others = true;
  }
  return beside;
}

void look_for(runtime::client_core& core, const std::set<std::string>& clients,
              audit_witness& beside) {
  known_clients known(core);
  std::vector<known_clients::wanted> all;
  for (const auto& one : clients) all.push_back({one});
  known.learn(all);
  for (const auto& one : clients) {
    if (!known.entry_of(one) && !known.why_unknown(one)) beside.gone.insert(one);
  }
}

}  // namespace

audit_report read_audit(runtime::client_core& core, std::string_view pattern,
                        milliseconds how_long) {
  core.check_process();
  if (pattern.empty()) throw failure{errc::invalid_argument, "the pattern is empty"};
  if (how_long < milliseconds{0}) {
    throw failure{errc::invalid_argument, "the time to look back must be 0 or more"};
  }
  audit_book book(pattern);
  stream trail(core, "trail", dialects::write_trail_query, dialects::read_trail);
  stream breaks(core, "audit", dialects::write_breaks_query, dialects::read_breaks);
  trail.read_on(book);
  audit_witness beside;
  if (const auto locks = book.open_locks(); !locks.empty()) {
    beside = look_at(core, locks);
    look_for(core, book.open_clients(), beside);
    trail.read_on(book);
  }
  breaks.read_on(book);
  const auto since = trail.now() - std::min(how_long, trail.now());
  audit_report report;
  report.records = book.records(since, trail.now(), beside);
  report.missed = book.missed(since);
  report.complete = report.missed == 0 && trail.reaches(since, dialects::trail_entries) &&
                    breaks.reaches(since, break_entries);
  return report;
}

}  // namespace holdfast::inspection
