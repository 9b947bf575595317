// Renewals that are due together share a command.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "net/background_thread.hpp"

namespace holdfast::runtime {

class engine;
class tenure;

// Collects what timers find due and sends it in batches of recipe::renew_batch.
// Thread safety: add() from any thread; the rest on the background thread.
class renewals final : public net::attendant {
 public:
  explicit renewals(engine& owner) : engine_(owner) {}

  void add(std::shared_ptr<tenure> due);

  interest wants(monotonic_time now) override;
  void attend(short events, monotonic_time now) override;

 private:
  engine& engine_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<tenure>> due_;  // guarded by mutex_
};

}  // namespace holdfast::runtime
