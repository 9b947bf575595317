// A lock of another name on the same server, which is asked for by strangers.
#include "redis/dialects/recipe.hpp"
#include "redis/resp/writer.hpp"
#include "simulation/copied_queue.hpp"
#include "simulation/world.hpp"

namespace holdfast::simulation {

using namespace std::chrono_literals;

void world::plan_neighbours() {
  for (auto times = other_dice_.chance(10) ? 1 + other_dice_.up_to(3) : 0; times > 0; --times) {
    at(begin_of_time + other_dice_.time_up_to(faults_end_ - begin_of_time),
       [this] { mislead(other_dice_.up_to(20)); });
  }
}

// Those who wait here are told that they have the other one. Looked for until somebody waits.
void world::mislead(std::uint64_t patience) {
  synchronize();
  const auto copied = copy_queue(server_, key_, neighbour_);
  if (copied.empty() && patience > 0 && faults()) {
    return at(now_ + other_dice_.time_up_to(100ms), [this, patience] { mislead(patience - 1); });
  }
  if (copied.empty() || !faults()) return;
  count(fault::misled);
  misled_at_ = now_;
  const client_id stranger{{0xee, 0xff, static_cast<std::uint8_t>(++neighbours_)}};
  std::string bytes;
  resp::writer out{bytes, resp::writer::scripts::by_text};
  kind_.recipe->write_acquire({.key = &neighbour_,
                               .wants = kind_.want(other_dice_),
                               .owner = request_id{stranger, 1},
                               .lease = 300ms},
                              false, whenever, out);
  const int connection = connect();
  (void)execute(connection, bytes);
  server_.disconnect(connection);
}

}  // namespace holdfast::simulation
