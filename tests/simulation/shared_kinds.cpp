// The kinds that several can have.
#include <algorithm>
#include <array>
#include <charconv>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/shared_lock.hpp"
#include "simulation/kind.hpp"

namespace holdfast::simulation {
namespace {

using substrate::demand;

constexpr std::uint32_t usual_permits = 3;

std::string beside(const lock_key& key, std::string_view suffix) {
  return std::string{key.value_key()}.append(suffix);
}

// Mostly readers, so that several hold it at once.
const demand* want_to_read_or_write(dice& dice) {
  static const demand reads{.mode = 'r'}, may_write{.mode = 'u'}, writes{.mode = 'x'};
  const auto drawn = dice.up_to(99);
  return drawn < 55 ? &reads : drawn < 65 ? &may_write : &writes;
}

const demand* want_permits(dice& dice) {
  static const std::array all{demand{.mode = 's', .weight = 1, .limit = usual_permits},
                              demand{.mode = 's', .weight = 2, .limit = usual_permits},
                              demand{.mode = 's', .weight = 3, .limit = usual_permits}};
  const auto drawn = dice.up_to(99);
  return &all.at(drawn < 60 ? 0 : drawn < 85 ? 1 : 2);
}

std::uint32_t permits_there_are(simulated_server& server, const lock_key& key) {
  const auto name = beside(key, ":n");
  const std::array<std::string_view, 2> words_of{"GET", name};
  const auto said = server.look(words_of);
  std::uint32_t permits = usual_permits;
  std::from_chars(said.text.data(), said.text.data() + said.text.size(), permits);
  return permits;
}

std::string set_permits(dice& dice, const lock_key& key, bool faults) {
  std::string bytes;
  resp::writer out{bytes};
  const bool said = faults && !dice.chance(20);
  const auto count = said ? static_cast<std::uint32_t>(1 + dice.up_to(4)) : 0;
  dialects::write_set_permits(key, count, whenever, out);
  return bytes;
}

// An entry is `<mode><weight>:<token>:<until>`, and perhaps `:<request that it replaced>:...`.
std::string replaced_by(std::string_view entry) {
  for (int i = 0; i < 3; ++i) {
    const auto colon = entry.find(':');
    if (colon == entry.npos) return {};
    entry.remove_prefix(colon + 1);
  }
  return std::string{entry.substr(0, entry.find(':'))};
}

const demand* want_a_mode(dice& dice) {
  static const std::array all{demand{.mode = 'n'}, demand{.mode = 'c'}, demand{.mode = 'd'},
                              demand{.mode = 'r'}, demand{.mode = 'p'}, demand{.mode = 'x'}};
  return &all.at(dice.up_to(all.size() - 1));
}

char change_mode(dice& dice, char has) {
  constexpr std::string_view modes = "ncdrpx";
  const char to = modes.at(dice.up_to(modes.size() - 1));
  return to == has ? '\0' : to;
}

// Upgrade, downgrade.
char change_role(dice& dice, char has) {
  if (has == 'r') return 0;
  return has == 'u' && dice.chance(60) ? 'x' : 'r';
}

}  // namespace

void shared_holders(simulated_server& server, const lock_key& key, std::vector<holder>& found) {
  found.clear();
  const auto value = key.value_key();
  const auto fields = server.look(std::array<std::string_view, 2>{"HGETALL", value});
  for (std::size_t i = 0; i + 1 < fields.items.size(); i += 2) {
    const auto one = dialects::read_holder(fields.items[i].text, fields.items[i + 1].text);
    if (!one) continue;
    const auto remaining = one->until.time_since_epoch() - server.now();
    if (remaining <= microseconds{0}) continue;
    found.push_back({fields.items[i].text, one->major, remaining, one->has,
                     replaced_by(fields.items[i + 1].text)});
  }
  std::ranges::sort(found, {}, &holder::token);
}

// `<mode><weight>/<limit>:<replaced>:<claim>:<way><proof>`
void shared_queue(simulated_server& server, const lock_key& key, std::vector<waiter>& found) {
  waiters(server, key, found, [](std::string_view behind, waiter& one) {
    one.wants = dialects::take_share(behind).value_or(share{});
    behind.remove_prefix(behind.find(':') + 1);
    one.replaces = behind.substr(0, behind.find(':'));
  });
}

const kind& read_write_kind() {
  static const kind one{
      .name = "read-write",
      .recipe = &dialects::native_shared_lock(),
      .want = want_to_read_or_write,
      .holders = shared_holders,
      .queue = shared_queue,
      .change = change_role,
  };
  return one;
}

const kind& semaphore_kind() {
  static const kind one{
      .name = "semaphore",
      .recipe = &dialects::native_shared_lock(),
      .want = want_permits,
      .holders = shared_holders,
      .queue = shared_queue,
      .limit = permits_there_are,
      .operate = set_permits,
  };
  return one;
}

const kind& mode_lock_kind() {
  static const kind one{
      .name = "mode-lock",
      .recipe = &dialects::native_shared_lock(),
      .want = want_a_mode,
      .holders = shared_holders,
      .queue = shared_queue,
      .change = change_mode,
  };
  return one;
}

}  // namespace holdfast::simulation
