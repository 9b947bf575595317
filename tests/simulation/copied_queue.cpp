#include "simulation/copied_queue.hpp"

#include <array>
#include <string_view>

namespace holdfast::simulation {
namespace {

constexpr std::string_view life = "180000";

void set_life(simulated_server& server, std::string_view key) {
  server.look(std::array<std::string_view, 3>{"PEXPIRE", key, life});
}

}  // namespace

std::vector<std::string> copy_queue(simulated_server& server, const lock_key& from,
                                    const lock_key& to) {
  const std::string source = from.value_key(), copy = to.value_key();
  const std::string queue = copy + ":w", times = source + ":i", times_copy = copy + ":i";
  std::vector<std::string> copied;
  const auto* const found = server.look_at_sorted_set(source + ":w");
  if (found == nullptr) return copied;
  for (const auto& [ticket, waiter] : keyspace::sorted_set{*found}) {
    const auto score = printed(ticket);
    server.look(std::array<std::string_view, 4>{"ZADD", queue, score, waiter});
    const auto asked = server.look(std::array<std::string_view, 3>{"HGET", times, waiter});
    if (asked.is_text()) {
      server.look(std::array<std::string_view, 4>{"HSET", times_copy, waiter, asked.text});
    }
    copied.push_back(waiter);
  }
  set_life(server, queue);
  set_life(server, times_copy);
  return copied;
}

}  // namespace holdfast::simulation
