// 2 to 16 threads: is the way the connection chooses its reader ever the wrong one?
#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "redis/connection/url.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/redis_lock.hpp"
#include "runtime/lock_spec.hpp"
#include "support/measure.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

// The parts of a client, with a tuning that the public interface does not offer.
class tuned_client {
 public:
  tuned_client(const std::string& url, std::size_t crowd, int threads)
      : engine_(session_for(url), client_options{}, tuned(crowd)) {
    for (int i = 0; i < threads; ++i) {
      specs_.push_back(std::make_shared<const runtime::lock_spec>(
          runtime::lock_spec{.key = lock_key{"bench-" + std::to_string(i)},
                             .recipe = &dialects::native_mutex(fencing::on),
                             .lease = std::chrono::seconds(30),
                             .retain = {},
                             .queue_limit = 100'000,
                             .renews = true,
                             .fair = false,
                             .fenced = true}));
    }
  }
  ~tuned_client() { engine_.shut_down(); }

  // As lock::acquire and lease::release do it.
  void pair(int thread) {
    const auto lock_driver = std::make_shared<redis_locks::redis_lock>(
        engine_, specs_[static_cast<std::size_t>(thread)],
        leasing::patience{.waits = true, .give_up_at = monotonic_time::max()}, false, nullptr);
    auto& connection = engine_.connection(lock_driver->spec().key.slot());
    net::waiter acquired{net::waiter::kind::caller, &connection};
    lock_driver->acquire({}, {.sleeper = &acquired}, true);
    connection.drive(acquired);
    if (lock_driver->take_acquired().code) throw failure(errc::server_error, "acquire");
    net::waiter released{net::waiter::kind::caller, &connection};
    if (!lock_driver->release({.sleeper = &released})) throw failure(errc::lost, "release");
    connection.drive(released);
    lock_driver->take_released().value();
  }

 private:
  static redis::session_settings session_for(const std::string& url) {
    redis::session_settings session;
    session.where = redis::parse_url(url).value().where;
    session.client_name = "bench";
    return session;
  }
  static redis::connection_tuning tuned(std::size_t crowd) {
    redis::connection_tuning tuning;
    if (crowd != 0) tuning.crowd = tuning.crowd_on_one_core = crowd;
    return tuning;
  }

  redis_locks::redis_engine engine_;
  std::vector<std::shared_ptr<const runtime::lock_spec>> specs_;
};

constexpr std::size_t as_shipped = 0;
constexpr std::size_t always_background = 1;
constexpr std::size_t never_background = std::numeric_limits<std::size_t>::max();

void scale_to(int threads, const std::string& placed, const setting& with) {
  tuned_client shipped(with.redis.url(), as_shipped, threads);
  tuned_client background(with.redis.url(), always_background, threads);
  tuned_client callers(with.redis.url(), never_background, threads);
  const auto run = [&](tuned_client& client) {
    return [&] { return run_slice(threads, with.slice(), [&](int i) { client.pair(i); }); };
  };
  const auto figures =
      run_by_turns(with.redis, with.rounds(), {run(shipped), run(background), run(callers)});
  const auto prefix = placed + std::to_string(threads) + "_threads.";
  auto& results = with.results;
  // "Never slower", but for what two measurements of the same thing differ by.
  results.at_least(prefix + "rate_vs_better_variant",
                   figures[0].rate / std::max(figures[1].rate, figures[2].rate), "x", 0.95);
  results.tell(prefix + "rate", figures[0].rate, "pairs/s");
  results.tell(prefix + "background_rate", figures[1].rate, "pairs/s");
  results.tell(prefix + "callers_rate", figures[2].rate, "pairs/s");
}

}  // namespace

void thread_scaling(const setting& with) {
  with.on_each_placement("thread_scaling", [&](placement, const std::string& placed) {
    for (const int threads : {2, 4, 8, 16}) scale_to(threads, placed, with);
  });
}

}  // namespace holdfast::bench
