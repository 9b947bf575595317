#include "values/run_watch.hpp"

#include <algorithm>
#include <system_error>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"
#include "redis/calls/wait_till.hpp"

namespace holdfast::values {
namespace {

constexpr milliseconds first_pause{20};
constexpr milliseconds longest_pause{2000};

}  // namespace

run_watch::run_watch(const run_record& record, server_time asked, const std::stop_token& stop)
    : record_(record), asked_(asked), passed_on_(stop, [this] { over_.request_stop(); }) {
  try {
    thread_ = net::quiet_thread("holdfast-look", [this] { look_now_and_then(); });
  } catch (const std::system_error&) {
    // Without a look the waiting ends with the run.
  }
}

std::optional<failure> run_watch::end() {
  over_.request_stop();
  if (thread_.joinable()) thread_.join();
  return found_;
}

// Of what a look may fail with, only these do not pass. Whatever else keeps the server from
// answering, the waiting meets it as well.
void run_watch::look_now_and_then() {
  const auto stop = over_.get_token();
  auto pause = first_pause;
  while (calls::wait_till(net::now() + pause, stop) && !stop.stop_requested()) {
    const auto said = record_.look({monotonic_time::max(), stop}, asked_);
    const auto why = said ? errc{} : said.error().reason();
    if (why == errc::has_run || why == errc::foreign_key) {
      found_ = said.error();
      over_.request_stop();
      return;
    }
    pause = std::min(2 * pause, longest_pause);
  }
}

}  // namespace holdfast::values
