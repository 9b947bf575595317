#include "simulation/kind.hpp"

#include <array>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/layout.hpp"

namespace holdfast::simulation {
namespace {

resp::value ask(simulated_server& server, std::string_view command, std::string_view key) {
  const std::array words_of{command, key};
  return server.look(words_of);
}

// The owner has the whole of the millisecond in which its lease ends.
microseconds remaining(simulated_server& server, const lock_key& key) {
  using namespace std::chrono_literals;
  const milliseconds ttl{ask(server, "PTTL", key.value_key()).number};
  return ttl + 1ms - server.now() % 1ms;
}

void owner_of_mutex(simulated_server& server, const lock_key& key, std::vector<holder>& found) {
  found.clear();
  const auto value = ask(server, "GET", key.value_key());
  const auto parts = dialects::parse_lock_value(value.text);
  if (!parts) return;
  found.push_back({std::string{parts->owner}, parts->major, remaining(server, key)});
}

void queue_of_mutex(simulated_server& server, const lock_key& key, std::vector<waiter>& found) {
  waiters(server, key, found, [](std::string_view, waiter&) {});
}

}  // namespace

void waiters(simulated_server& server, const lock_key& key, std::vector<waiter>& found,
             void (*read)(std::string_view behind, waiter&)) {
  thread_local std::string queue;
  queue.assign(key.value_key()).append(":w");
  found.clear();
  const auto* const all = server.look_at_sorted_set(queue);
  if (all == nullptr) return;
  for (const auto& [ticket, text] : *all) {
    const std::string_view member = text;
    const auto id = member.substr(0, member.find(':'));
    const bool polls = member.substr(member.rfind(':')).starts_with(":p");
    found.push_back({.owner = std::string{id}, .ticket = ticket, .hears = !polls});
    read(member.substr(id.size() + 1), found.back());
  }
}

const kind& mutex_kind() {
  static const kind one{
      .name = "mutex",
      .recipe = &dialects::native_mutex(fencing::on),
      .want = [](dice&) -> const substrate::demand* { return nullptr; },
      .holders = owner_of_mutex,
      .queue = queue_of_mutex,
      .is_kept = true,
  };
  return one;
}

std::span<const kind* const> all_kinds() {
  static const std::array all{&mutex_kind(), &read_write_kind(), &semaphore_kind(),
                              &mode_lock_kind()};
  return all;
}

}  // namespace holdfast::simulation
