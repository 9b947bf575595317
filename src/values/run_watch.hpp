// Looks now and then whether the job has run, while somebody waits for its lock.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include <holdfast/errc.hpp>

#include "values/run_record.hpp"

namespace holdfast::values {

// Hosts that ask at the same moment all find that the job may run. Those who do not get the lock
// need not wait for the end of the run that has begun meanwhile. On a thread of its own, so that
// the waiting keeps its place in the lock's queue. Without a thread to be had it does not look.
class run_watch {
 public:
  // `asked`: when the caller asked first; `stop`: the caller's. The record must outlive this.
  run_watch(const run_record& record, server_time asked, const std::stop_token& stop);
  ~run_watch() { (void)end(); }
  run_watch(const run_watch&) = delete;
  run_watch& operator=(const run_watch&) = delete;

  // For the waiting: it is to end, since there is no run to wait for, or the caller is stopped.
  std::stop_token stop() const noexcept { return over_.get_token(); }

  // Looks no more. Why there is no run, if a look has found it.
  std::optional<failure> end();

 private:
  void look_now_and_then();

  const run_record& record_;
  const server_time asked_;
  std::stop_source over_;
  std::stop_callback<std::function<void()>> passed_on_;
  std::optional<failure> found_;  // the thread's until it is joined
  std::thread thread_;
};

}  // namespace holdfast::values
