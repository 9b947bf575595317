// A call that waits, on a thread of its own, and what it must come to.
#pragma once

#include <atomic>
#include <exception>
#include <list>
#include <stop_token>
#include <string>
#include <thread>

#include "reference/run.hpp"

namespace holdfast::reference {

class wait_call {
 public:
  std::string expected;  // empty: it goes on waiting

  // `what` is given a stop token, and returns how it ended.
  template <typename What>
  void begin(What what) {
    thread_ = std::jthread([this, what = std::move(what)](const std::stop_token& stop) {
      const auto thrown = outcome_of_call([&] { said_ = what(stop); });
      if (thrown != "ok") said_ = "threw " + thrown;
      done_ = true;
    });
  }
  void stop() { thread_.request_stop(); }
  std::string said() const { return done_ ? said_ : ""; }

 private:
  std::string said_;
  std::atomic<bool> done_{false};
  std::jthread thread_;  // the first that ends: it writes the others
};

}  // namespace holdfast::reference
