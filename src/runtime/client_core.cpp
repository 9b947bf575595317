#include "runtime/client_core.hpp"

#include <atomic>
#include <utility>

#include <holdfast/errc.hpp>

#include "base/uncancelled.hpp"
#include "net/closing.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::runtime {
namespace {

// Reachable, so that a leak checker in the child sees that it is meant. Threads of the child may
// drop several at once.
void left_behind(runtime::engine* of_parent) {
  struct link {
    runtime::engine* of_parent;
    const link* next;
  };
  static std::atomic<const link*> last{nullptr};
  auto* const mine = new link{of_parent, last.load()};
  while (!last.compare_exchange_weak(mine->next, mine)) {
  }
}

}  // namespace

client_core::client_core(std::unique_ptr<runtime::engine> engine, std::string url,
                         std::shared_ptr<void> server)
    : engine_(std::move(engine)), url_(std::move(url)), server_(std::move(server)) {}

client_core::~client_core() {
  if (!engine_->is_in_its_process()) {
    left_behind(engine_.release());
    return;
  }
  const uncancelled meanwhile;
  if (net::is_quiet_thread()) {
    // The last handle died on a thread that closing has to wait for, or that has leases of another
    // client to keep. A callback of that client may be closing the client of this thread.
    net::close_aside([engine = engine_.release(), server = std::move(server_)] {
      engine->shut_down();
      delete engine;
    });
    return;
  }
  engine_->shut_down();
}

void client_core::check_process() const {
  if (!engine_->is_in_its_process()) throw failure{errc::forked};
}

}  // namespace holdfast::runtime
