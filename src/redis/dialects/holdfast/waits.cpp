#include "redis/dialects/holdfast/waits.hpp"

#include <optional>

#include "base/lock_key.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

std::string waits_key(const key_space& space) { return space.named("waits"); }

// Up to the first of these, which is taken off, too; all of it when there is none.
std::string_view take_until(char end, std::string_view& text) noexcept {
  const auto at = text.find(end);
  const auto taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return taken;
}

std::optional<lock_in_mode> read_lock(const key_space& space, std::string_view line) {
  const auto mode = take_until(' ', line);
  if (mode.size() != 1 || !name_in(space, line)) return std::nullopt;
  return lock_in_mode{mode.front(), std::string{line}};
}

std::optional<known_wait> read_record(const key_space& space, std::string_view id,
                                      std::string_view record) {
  known_wait found;
  found.id = id;
  found.who = take_until('\n', record);
  auto wants = read_lock(space, take_until('\n', record));
  if (!wants) return std::nullopt;
  found.wants = *std::move(wants);
  while (!record.empty()) {
    auto line = take_until('\n', record);
    const auto request = take_until(' ', line);
    auto lock = read_lock(space, line);
    if (!lock) return std::nullopt;
    found.holds.push_back({*std::move(lock), std::string{request}});
  }
  return found;
}

}  // namespace

std::string wait_id(const client_id& client, std::uint64_t number, wakeup_way way) {
  const auto id = std::string{client.text()} + '-' + std::to_string(number);
  return way == wakeup_way::poll ? id + 'p' : id;
}

std::string to_record(const known_wait& wait) {
  std::string text = wait.who + '\n' + wait.wants.mode + ' ' + wait.wants.key + '\n';
  for (const auto& one : wait.holds) {
    text += one.request + ' ' + one.mode + ' ' + one.key + '\n';
  }
  return text;
}

void write_note(const key_space& space, const wait_note& noted, milliseconds counts_for,
                server_time not_after, resp::writer& out) {
  out.call(scripts::holdfast_deadlock_note, 1, 4 + 2 * (noted.ended.size() + noted.waits.size()));
  out.arg(waits_key(space));
  out.arg(micros(not_after));
  out.arg(counts_for.count());
  out.arg(std::string_view{noted.read_from});
  out.arg(static_cast<std::int64_t>(noted.ended.size()));
  for (const auto& one : noted.ended) {
    out.arg(one.id);
    out.arg(micros(one.noted_until));
  }
  for (const auto& one : noted.waits) {
    out.arg(one.id);
    out.arg(one.record);
  }
}

std::variant<part_of_waits, late, refused> read_note(const key_space& space,
                                                     const resp::value& reply) {
  if (auto too_late = read_late(reply)) return *too_late;
  if (!reply.is(resp::type::array) || reply.items.size() % 2 != 1 || !reply.items[0].is_text()) {
    return refused_or_not_understood("deadlock note", reply);
  }
  part_of_waits part{{}, reply.items[0].text};
  for (std::size_t i = 1; i < reply.items.size(); i += 2) {
    if (auto one = read_record(space, reply.items[i].text, reply.items[i + 1].text)) {
      part.waits.push_back(*std::move(one));
    }
  }
  return part;
}

void write_confirm(const key_space& space, const std::vector<link_of_cycle>& cycle,
                   server_time noted_until, resp::writer& out) {
  out.call(scripts::holdfast_deadlock_confirm, 1 + cycle.size(), 1 + 3 * cycle.size());
  out.arg(waits_key(space));
  for (const auto& one : cycle) out.arg(one.waits->wants.key);
  out.arg(micros(noted_until));
  for (const auto& one : cycle) {
    out.arg(one.waits->id);
    out.arg(to_record(*one.waits));
    out.arg(one.blocked_by->request);
  }
}

std::variant<bool, refused> read_confirm(const resp::value& reply) {
  if (reply.is(resp::type::integer)) return reply.number == 1;
  return refused_or_not_understood("deadlock confirm", reply);
}

}  // namespace holdfast::dialects
