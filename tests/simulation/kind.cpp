#include "simulation/kind.hpp"

#include <array>

#include "dialects/catalog.hpp"
#include "dialects/holdfast/layout.hpp"

namespace holdfast::simulation {
namespace {

resp::value ask(simulated_server& server, std::string_view command, std::string_view key) {
  const std::array words_of{command, key};
  return server.look(words_of);
}

// The owner has the whole of the millisecond in which his lease ends.
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

std::uint64_t waiting_for_mutex(simulated_server& server, const lock_key& key) {
  thread_local std::string queue;
  queue.assign(key.value_key()).append(":w");
  return static_cast<std::uint64_t>(ask(server, "ZCARD", queue).number);
}

}  // namespace

const kind& mutex_kind() {
  static const kind one{
      .name = "mutex",
      .recipe = &dialects::native_mutex(fencing::on),
      .want = [](dice&) -> const dialects::demand* { return nullptr; },
      .may_share = [](const dialects::demand*, const dialects::demand*) { return false; },
      .holders = owner_of_mutex,
      .waiting = waiting_for_mutex,
  };
  return one;
}

}  // namespace holdfast::simulation
