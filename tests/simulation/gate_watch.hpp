// Watches a gate, a latch or a barrier: each kind finds its own breaches.
#pragma once

#include <optional>
#include <string>

#include <holdfast/errc.hpp>

#include "base/time.hpp"
#include "redis/dialects/recipe.hpp"
#include "simulation/faults.hpp"

namespace holdfast::simulation::gates {

class gate_watch {
 public:
  virtual ~gate_watch() = default;

  virtual const dialects::recipe& how() const = 0;
  virtual const substrate::demand* wants() const { return nullptr; }

  // ---- what happened. Each may find a breach. A call is known by its request.
  virtual void called(const std::string& request) = 0;
  // The client asks, now to be notified in this way.
  virtual void asks(const std::string& request, substrate::wakeup_way way) = 0;
  // The client has heard that it waits; it had asked the server then.
  virtual void told_to_wait(const std::string& request, monotonic_time asked_at) = 0;
  // The server executed something of this call, or of nobody's.
  virtual void executed(const std::string& request) = 0;
  virtual void passed(const std::string& request, substrate::token_major major) = 0;
  // `calm`: nothing has happened to the client since it called.
  virtual void failed(const std::string& request, errc why, bool calm) = 0;
  // The client has left, which the server has confirmed.
  virtual void left(const std::string& request) = 0;
  // To the server: emptied, or its clock set.
  virtual void happened(fault what) = 0;

  // Since when the waiter can go on, if it can.
  virtual std::optional<monotonic_time> open_since(const std::string& request) const = 0;
};

}  // namespace holdfast::simulation::gates
