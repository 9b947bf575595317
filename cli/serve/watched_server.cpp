#include "cli/serve/watched_server.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "cli/boot_clock.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

look::time_point wall_time() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return look::time_point{std::chrono::duration_cast<look::time_point::duration>(
      std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec})};
}

// Where nobody holds a lock, a look at one tells the server's clock, whatever its name. A user for
// whom there is a pattern may not look at it.
constexpr const char* any_name = "holdfast";

// A server with more keys is asked for its index of held locks: a search at each look would be too
// much work for it.
constexpr std::size_t most_scanned = 50'000;
constexpr milliseconds between_clients{10'000};

// About the server's time for a lock or a client that is looked at. Watching may take a fiftieth of
// its time: many locks are looked at more seldom.
constexpr std::chrono::microseconds for_each_look{20};
constexpr int share_of_time = 50;

milliseconds rest_after(const look& seen) {
  const auto looks = static_cast<std::int64_t>(seen.locks.locks.size() + seen.clients.size());
  return std::chrono::ceil<milliseconds>((share_of_time - 1) * looks * for_each_look);
}

constexpr std::size_t threads_for_questions = 2;
constexpr std::size_t most_questions = 8;

}  // namespace

watched_server::watched_server(std::string name, client redis, const look_options& options)
    : name_(std::move(name)),
      inspector_(redis),
      address_(redis.url()),
      options_(options),
      questions_(threads_for_questions, most_questions) {
  report_.error = "it was not looked at yet";
  report_.beat = boot_time();
  looking_ = std::jthread([this](const std::stop_token& stop) { look_again_and_again(stop); });
  if (options_.doctor_every) {
    doctor_ = std::jthread([this](const std::stop_token& stop) { diagnose_again_and_again(stop); });
  }
}

watched_server::~watched_server() = default;

watched_server::report watched_server::now() const {
  const std::scoped_lock guard(mutex_);
  return report_;
}

std::vector<lock_event> watched_server::events(const std::string& name) const {
  const std::scoped_lock guard(mutex_);
  return history_.of(name);
}

bool watched_server::shows(const std::string& name) const {
  return options_.pattern == "*" || ::fnmatch(options_.pattern.c_str(), name.c_str(), 0) == 0;
}

std::optional<lock_status> watched_server::seen_of_another_library(const std::string& name) const {
  const auto seen = now().last;
  if (!options_.all_dialects || seen == nullptr) return std::nullopt;
  const auto& all = seen->locks.locks;
  const auto found = std::ranges::find_if(all, [&](const lock_status& lock) {
    return lock.name == name && lock.dialect != "holdfast";
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

milliseconds watched_server::stuck_after() const noexcept {
  return std::max<milliseconds>(std::chrono::minutes{2}, 3 * options_.longest_call);
}

bool watched_server::is_fresh(const report& what) const {
  return what.last != nullptr &&
         boot_time() - what.last->done_at <=
             3 * std::max(options_.refresh, what.last->rest) + what.last->took;
}

bool watched_server::ask(const std::string& lock, std::function<void(result<lock_status>)> then) {
  return questions_.take([this, lock, then = std::move(then)] {
    try {
      auto found = inspector_.status(lock);
      name_clients(found);
      then(std::move(found));
    } catch (const failure& why) {
      then(why);
    } catch (const std::exception& why) {
      then(failure{errc::server_error, why.what()});
    }
  });
}

void watched_server::show_life() {
  const std::scoped_lock guard(mutex_);
  report_.beat = boot_time();
}

std::shared_ptr<const look> watched_server::look_once(const std::stop_token& stop) {
  const auto begun = exact_boot_time();
  auto seen = std::make_shared<look>();
  list_options how{.most = options_.most_locks, .most_scanned = most_scanned};
  how.progress = [this](std::size_t, std::size_t) { show_life(); };
  how.stop = stop;
  seen->locks = options_.all_dialects ? inspector_.list_all_dialects(options_.pattern, how)
                                      : inspector_.list(options_.pattern, how);
  // More seldom: it searches all keys, and clients come and go more slowly than locks.
  if (!clients_at_ || boot_time() - *clients_at_ >= std::max(options_.refresh, between_clients)) {
    clients_ = inspector_.list_clients({.progress = how.progress, .stop = stop});
    clients_at_ = boot_time();
  }
  sum_up(*seen, clients_);
  if (!seen->now && options_.pattern == "*") seen->now = inspector_.status(any_name).now;
  seen->seen_at = wall_time();
  seen->done_at = boot_time();
  seen->took = exact_boot_time() - begun;
  seen->rest = rest_after(*seen);
  return seen;
}

void watched_server::look_again_and_again(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto begun = boot_time();
    milliseconds least_rest{0};
    show_life();
    try {
      auto seen = look_once(stop);
      least_rest = seen->rest;
      const std::scoped_lock guard(mutex_);
      if (report_.last != nullptr) history_.compare(*report_.last, *seen);
      report_.last = std::move(seen);
      report_.up = true;
      report_.error.clear();
    } catch (const std::exception& why) {
      const std::scoped_lock guard(mutex_);
      report_.up = false;
      report_.error = why.what();
    }
    const auto took = boot_time() - begun;
    rest(std::max(options_.refresh - took, least_rest), stop);
  }
}

void watched_server::diagnose_again_and_again(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      auto found = std::make_shared<diagnosis>();
      found->findings = inspector_.diagnose();
      found->done_at = boot_time();
      const std::scoped_lock guard(mutex_);
      report_.health = std::move(found);
    } catch (const std::exception&) {
      return;  // it was stopped
    }
    pause(*options_.doctor_every, stop);
  }
}

// Shows life meanwhile.
void watched_server::rest(milliseconds time, const std::stop_token& stop) {
  constexpr milliseconds step{1'000};
  for (const auto ends = boot_time() + time; boot_time() < ends && !stop.stop_requested();) {
    pause(std::min(step, ends - boot_time()), stop);
    show_life();
  }
}

void watched_server::pause(milliseconds time, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  (void)never_.wait_for(lock, stop, time, [] { return false; });
}

}  // namespace holdfast::cli
