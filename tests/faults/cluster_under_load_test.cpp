// Slots of a cluster are moved to and fro while clients contend for their locks. The history is
// checked, and nobody may lose what he has: renewals go on in the middle of a move.
#include <poll.h>

#include "base/lock_key.hpp"
#include "faults/undisturbed.hpp"
#include "support/cluster_servers.hpp"

namespace holdfast::faults {
namespace {

class ClusterUnderLoad : public fault_test {};
HOLDFAST_ON_EACH_SERVER(ClusterUnderLoad);

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

// So long each half of it lasts: the keys are at the old master first, and then at the new one.
void move(const support::cluster_servers& servers, std::uint16_t slot, milliseconds half) {
  const auto from = servers.master_of(slot), to = 1 - from;
  servers.begin_to_move(slot, from, to);
  pause(half);
  servers.move_keys(slot, from, to);
  pause(half);
  servers.end_to_move(slot, from, to);
}

TEST_P(ClusterUnderLoad, SlotsAreMovedToAndFro) {
  const support::cluster_servers servers{{.program = GetParam(), .masters = 2}};
  const auto connect = [&] { return client{servers.url()}; };
  expect_undisturbed(GetParam(), connect, 9s, [&] {
    for (const auto half : {0ms, 20ms, 150ms, 300ms}) {
      for (int i = 0; i < 2; ++i) {
        for (const auto* const name : {"usual", "fair", "held"}) {
          move(servers, lock_key{name}.slot(), half);
          pause(100ms);  // for work at the new master
        }
      }
    }
  });
}

}  // namespace
}  // namespace holdfast::faults
