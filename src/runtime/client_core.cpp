#include "runtime/client_core.hpp"

#include <utility>
#include <vector>

#include <holdfast/errc.hpp>

#include "base/uncancelled.hpp"
#include "net/closing.hpp"
#include "net/quiet_thread.hpp"

namespace holdfast::runtime {

client_core::client_core(std::unique_ptr<runtime::engine> engine, std::string url,
                         std::shared_ptr<void> server)
    : engine_(std::move(engine)), url_(std::move(url)), server_(std::move(server)) {}

client_core::~client_core() {
  if (!engine_->is_in_its_process()) {
    // Reachable, so that a leak checker in the child sees that it is meant.
    static auto& left_behind = *new std::vector<runtime::engine*>;
    left_behind.push_back(engine_.release());
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
