// An acquisition on a thread of its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "net/clock.hpp"
#include "reference/stage.hpp"

namespace holdfast::reference {

struct stage::call {
  std::stop_source stop;
  std::string outcome;  // once done
  std::shared_ptr<watched> got;
  monotonic_time began{}, returned{};
  std::atomic<bool> done{false};
  std::jthread thread;

  void begin(lock what, claim as, milliseconds timeout, observer& sees) {
    began = net::now();
    thread = std::jthread([this, what = std::move(what), as = std::move(as), timeout, &sees] {
      run_it(what, as, timeout, sees);
    });
  }

 private:
  void run_it(const lock& what, claim as, milliseconds timeout, observer& sees) {
    try {
      as.asked = net::now();
      auto given = what.try_acquire({.timeout = timeout}, stop.get_token());
      returned = net::now();
      outcome = outcome_of(given);
      if (given) got = sees.watch(std::move(*given), std::move(as));
    } catch (const failure& wrong) {
      outcome = std::string{"threw "} + name_of(wrong.reason()) + ": " + wrong.what();
    }
    done = true;
  }
};

}  // namespace holdfast::reference
