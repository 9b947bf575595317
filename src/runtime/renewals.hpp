// Renewals that are due together share a command.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "net/background_thread.hpp"

namespace holdfast::runtime {

class engine;
class tenure;

// Collects what is due, as timers, messages and answers find it, and sends it in batches of
// recipe::renew_batch. Thread safety: add() from any thread; the rest on the background thread.
class renewals final : public net::attendant {
 public:
  renewals(engine& owner, net::background_thread& helper) : engine_(owner), helper_(helper) {}

  void add(std::shared_ptr<tenure> due);

  interest wants(monotonic_time now) override;
  void attend(short events, monotonic_time now) override;

 private:
  engine& engine_;
  net::background_thread& helper_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<tenure>> due_;  // guarded by mutex_
};

}  // namespace holdfast::runtime
