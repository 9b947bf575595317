#include "redis/dialects/holdfast/trail.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/cut.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t longest_text = 128;
constexpr std::size_t longest_name = 512;

constexpr std::array event_names = {"granted", "released", "lost", "missed"};
constexpr std::array kind_names = {"unknown", "mutex",   "mode_lock", "semaphore",
                                   "latch",   "barrier", "several"};

template <typename Enum, std::size_t Size>
std::optional<Enum> named(const std::array<const char*, Size>& names, std::string_view text) {
  const auto* const at = std::ranges::find(names, text);
  if (at == names.end()) return std::nullopt;
  return static_cast<Enum>(at - names.begin());
}

std::int64_t ms_between(monotonic_time from, monotonic_time to) noexcept {
  return std::max<std::int64_t>(std::chrono::floor<milliseconds>(to - from).count(), 0);
}

void write_note(const trail_note& one, monotonic_time now, resp::writer& out) {
  const bool is_missed = one.what == trail_event::missed;
  out.arg(event_names.at(static_cast<std::size_t>(one.what)));
  out.arg(one.name);
  out.arg(kind_names.at(static_cast<std::size_t>(one.kind)));
  out.arg(std::to_string(is_missed ? one.many : one.token));
  out.arg(one.granted_at.time_since_epoch().count());
  out.arg(ms_between(one.at, now));
  out.arg(ms_between(one.granted_at, one.at));
  out.arg(one.error ? name_of(*one.error) : "");
}

// An id is "<ms>-<number>".
struct stream_id {
  milliseconds at{};
  std::uint64_t number = 0;
};

std::optional<stream_id> read_id(const resp::value& v) {
  if (!v.is_text()) return std::nullopt;
  const std::string_view text = v.text;
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto at = parse_number<std::int64_t>(text.substr(0, dash));
  const auto number = parse_number<std::uint64_t>(text.substr(dash + 1));
  constexpr std::int64_t latest = std::int64_t{1} << 52;  // sums with it do not overflow
  if (!at || !number || *at < 0 || *at > latest) return std::nullopt;
  return stream_id{milliseconds{*at}, *number};
}

std::string after(const stream_id& id) {
  const bool is_last = id.number == UINT64_MAX;
  return std::to_string(id.at.count() + (is_last ? 1 : 0)) + "-" +
         std::to_string(is_last ? 0 : id.number + 1);
}

constexpr std::array trail_fields = {"event", "name",  "kind", "token", "grant",   "age",
                                     "held",  "error", "host", "pid",   "program", "client"};
constexpr std::array break_fields = {"event", "name", "owner", "token", "by", "reason"};

template <std::size_t Size>
void write_query(std::string_view key, std::string_view from,
                 const std::array<const char*, Size>& fields, resp::writer& out) {
  out.call(scripts::holdfast_read_stream, 1, 2 + Size);
  out.arg(key);
  out.arg(from);
  out.arg(static_cast<std::int64_t>(stream_page_size));
  for (const auto* const field : fields) out.arg(field);
}

using texts = std::span<const resp::value>;

std::optional<trail_entry> read_entry(const stream_id& id, texts field, trail_entry*) {
  const auto what = named<trail_event>(event_names, field[0].text);
  if (!what) return std::nullopt;
  const auto span_of = [&](std::size_t at) {
    return std::min(milliseconds{number_or_zero<std::int64_t>(field[at].text)}, id.at);
  };
  trail_entry entry{
      .what = *what,
      .name = field[1].text,
      .kind = named<lock_kind>(kind_names, field[2].text).value_or(lock_kind::unknown),
      .token = number_or_zero<std::uint64_t>(field[3].text),
      .error = std::string(cut(field[7].text, longest_text)),
      .grant = std::string(cut(field[4].text, longest_text)),
      .granted = {},
      .at = id.at - span_of(5),
      .by = {std::string(cut(field[8].text, longest_text)),
             number_or_zero<std::int64_t>(field[9].text),
             std::string(cut(field[10].text, longest_text)),
             std::string(cut(field[11].text, longest_text))}};
  entry.granted = std::max(entry.at - span_of(6), milliseconds{0});
  if (!lock_key::may_be(entry.name) && entry.what != trail_event::missed) return std::nullopt;
  return entry;
}

std::optional<break_entry> read_entry(const stream_id& id, texts field, break_entry*) {
  if (field[0].text != "break" || !lock_key::may_be(field[1].text)) return std::nullopt;
  return break_entry{.name = field[1].text,
                     .owner = std::string(cut(field[2].text, longest_text)),
                     .token = number_or_zero<std::uint64_t>(field[3].text),
                     .by = std::string(cut(field[4].text, longest_name)),
                     .reason = std::string(cut(field[5].text, longest_name)),
                     .at = id.at};
}

template <typename Entry>
std::variant<stream_page<Entry>, refused> read_page(const resp::value& v, std::size_t fields) {
  const bool is_page = v.is(resp::type::array) && v.items.size() == 3 &&
                       v.items[0].is(resp::type::integer) && v.items[1].is(resp::type::integer) &&
                       v.items[2].is(resp::type::array);
  if (v.is(resp::type::error) && v.text.find("WRONGTYPE") != v.text.npos) {
    return refused{errc::foreign_key, false, "the key of the stream is of another type; delete it"};
  }
  if (!is_page) return unquoted_not_understood("read stream", v);
  const auto& found = v.items[2].items;
  stream_page<Entry> page{.now = milliseconds{v.items[0].number},
                          .length = v.items[1].number,
                          .read = found.size(),
                          .first = {},
                          .next = "-"};
  for (const auto& one : found) {
    const bool is_entry = one.is(resp::type::array) && one.items.size() == fields + 1 &&
                          std::ranges::all_of(one.items, &resp::value::is_text);
    const auto id = is_entry ? read_id(one.items[0]) : std::nullopt;
    if (!id) return unquoted_not_understood("read stream", one);
    if (&one == &found.front()) page.first = id->at;
    page.next = after(*id);
    auto entry = read_entry(*id, texts(one.items).subspan(1), static_cast<Entry*>(nullptr));
    if (entry) page.entries.push_back(*std::move(entry));
  }
  return page;
}

}  // namespace

stream_place::stream_place(const key_space& space, std::string_view name)
    : key(space.named(name)), slot(hash_slot(key)) {}

void write_trail(const stream_place& at, const trail_author& by, std::span<const trail_note> notes,
                 monotonic_time now, resp::writer& out) {
  out.call(scripts::holdfast_append_trail, 1, 5 + 8 * notes.size());
  out.arg(at.key);
  out.arg(trail_entries);
  out.arg(cut(by.host, longest_text));
  out.arg(by.pid);
  out.arg(cut(by.program, longest_text));
  out.arg(by.client);
  for (const auto& one : notes) write_note(one, now, out);
}

std::optional<refused> read_trail_written(const resp::value& v) {
  if (v.is(resp::type::integer) && v.number == 1) return std::nullopt;
  return refused_or_not_understood("append to the trail", v);
}

void write_trail_query(std::string_view key, std::string_view from, resp::writer& out) {
  write_query(key, from, trail_fields, out);
}

std::variant<stream_page<trail_entry>, refused> read_trail(const resp::value& v) {
  return read_page<trail_entry>(v, trail_fields.size());
}

void write_breaks_query(std::string_view key, std::string_view from, resp::writer& out) {
  write_query(key, from, break_fields, out);
}

std::variant<stream_page<break_entry>, refused> read_breaks(const resp::value& v) {
  return read_page<break_entry>(v, break_fields.size());
}

}  // namespace holdfast::dialects
