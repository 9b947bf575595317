#include "redis/dialects/holdfast/client_registry.hpp"

#include <algorithm>

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/cut.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::size_t longest_text = 128;
constexpr std::size_t entry_size = 5;  // in a reply, without notes
constexpr std::size_t longest_note = 256;

}  // namespace

client_place::client_place(const key_space& space, std::string_view client)
    : key(space.named("client:").append(client)), slot(hash_slot(key)) {}

void write_client(const client_place& client, const client_entry& entry, milliseconds ttl,
                  resp::writer& out) {
  out.call(scripts::holdfast_register_client, 1, 11);
  out.arg(client.key);
  out.arg(ttl.count());
  out.arg("host");
  out.arg(cut(entry.host, longest_text));
  out.arg("pid");
  out.arg(entry.pid);
  out.arg("program");
  out.arg(cut(entry.program, longest_text));
  out.arg("version");
  out.arg(cut(entry.version, longest_text));
  out.arg("since");
  out.arg(entry.since.time_since_epoch().count());
}

std::optional<refused> read_client_written(const resp::value& v) {
  if (v.is(resp::type::integer) && v.number == 1) return std::nullopt;
  return refused_or_not_understood("register client", v);
}

void write_client_removal(const client_place& client, resp::writer& out) {
  out.command(2);
  out.arg("DEL");
  out.arg(client.key);
}

std::string note_field(const lock_key& lock, token_major major) {
  return "note:" + std::to_string(major) + ":" + std::string(lock.encoded());
}

void write_notes(const client_place& client, std::span<const note_change> changes, milliseconds ttl,
                 resp::writer& out) {
  out.call(scripts::holdfast_note_grants, 1, 1 + 2 * changes.size());
  out.arg(client.key);
  out.arg(ttl.count());
  for (const auto& one : changes) {
    out.arg(one.field);
    out.arg(cut(one.note, longest_note));
  }
}

void write_client_query(const client_place& client, resp::writer& out,
                        std::span<const std::string> note_fields) {
  out.call(scripts::holdfast_read_client, 1, note_fields.size());
  out.arg(client.key);
  for (const auto& field : note_fields) out.arg(field);
}

client_verdict read_client(const resp::value& v) {
  if (v.is(resp::type::array) && v.items.empty()) return std::optional<client_entry>{};
  const bool is_entry = v.is(resp::type::array) && v.items.size() >= entry_size &&
                        std::ranges::all_of(v.items, &resp::value::is_text);
  if (!is_entry) return refused_or_not_understood("read client", v);
  const auto& field = v.items;
  client_entry entry{
      .host = std::string(cut(field[0].text, longest_text)),
      .pid = number_or_zero<std::int64_t>(field[1].text),
      .program = std::string(cut(field[2].text, longest_text)),
      .version = std::string(cut(field[3].text, longest_text)),
      .since = server_time(microseconds(number_or_zero<std::int64_t>(field[4].text)))};
  for (auto at = entry_size; at < field.size(); ++at) {
    entry.notes.emplace_back(cut(field[at].text, longest_note));
  }
  return std::optional{std::move(entry)};
}

}  // namespace holdfast::dialects
