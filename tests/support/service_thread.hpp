// A thread that serves sockets and does what the test tells it, in that order of importance.
#pragma once

#include <poll.h>

#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "net/wake_up.hpp"

namespace holdfast::support {

// Everything that a service owns is touched on its thread only, so nothing in it needs a lock.
class service_thread {
 public:
  class service {
   public:
    // Appends what to wait for; may lower `at`, when to serve at the latest.
    virtual void wants(std::vector<pollfd>& descriptors, monotonic_time& at) = 0;
    // The same descriptors with what has happened; nothing has changed in between.
    virtual void serve(std::span<const pollfd> descriptors) = 0;

   protected:
    ~service() = default;
  };

  service_thread(const char* name, service& served);
  ~service_thread() { stop(); }

  void stop();  // joins; the service is not touched afterwards

  // Runs a function on the thread and returns what it returns: when this is back, it is in force.
  template <typename Function>
  auto run(Function&& function) const -> decltype(function()) {
    std::packaged_task<decltype(function())()> task(std::forward<Function>(function));
    auto result = task.get_future();
    post([&task] { task(); });
    return result.get();
  }

 private:
  void post(std::function<void()> task) const;
  bool run_tasks();  // false: stop
  void loop();

  service& service_;
  mutable net::wake_up wake_up_;
  mutable std::mutex guard_;
  mutable std::deque<std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace holdfast::support
