#include "doctor/trials.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>

#include <holdfast/all_of.hpp>
#include <holdfast/once_per.hpp>

#include "base/lock_key.hpp"
#include "doctor/vote_trial.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/holdfast/once.hpp"
#include "runtime/client_core.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::doctor {
namespace {

using namespace std::chrono_literals;
using severity = finding::severity;

// The locks of a trial are free, or stay taken. So a trial waits only for a server that refuses.
constexpr auto moment = 10ms;
const acquire_options in_time{.timeout = 1s};

const key_space& space_of(const client& redis) {
  return detail::lock_access::core(redis)->engine().space();
}

void use(lease held) {
  held.extend(20s).value();
  held.release().value();
}

template <typename Result>
void expect_to_wait_in_vain(const Result& waited) {
  if (!waited && waited.error().reason() != errc::timed_out) throw waited.error();
}

// Its key would stay for ever where a trial ends early.
class removed_unless_done {
 public:
  removed_unless_done(const client& redis, std::string key, std::uint16_t slot)
      : core_(*detail::lock_access::core(redis)), key_(std::move(key)), slot_(slot) {}
  ~removed_unless_done() {
    if (std::uncaught_exceptions() == before_) return;
    try {
      (void)calls::ask(core_, slot_, {"DEL", key_}, redis_locks::unstoppable());
    } catch (const failure&) {
      // The trial says why.
    }
  }
  removed_unless_done(const removed_unless_done&) = delete;
  removed_unless_done& operator=(const removed_unless_done&) = delete;

 private:
  runtime::client_core& core_;
  const std::string key_;
  const std::uint16_t slot_;
  const int before_ = std::uncaught_exceptions();
};

struct trial {
  const char* kind;
  void (*run)(const client& redis, const std::string& name);
  bool needs_one_server = false;  // as a quorum's member does
};

constexpr trial trials[] = {
    {"several mutexes",
     [](const client& redis, const std::string& name) {
       const auto both = all_of({redis.mutex(name + " a"), redis.mutex(name + " b")});
       use(both.acquire(in_time));
     }},
    {"mutex of a quorum", try_a_vote, true},
    {"reader and writer",
     [](const client& redis, const std::string& name) {
       const auto book = redis.read_write_lock(name + " rw");
       use(book.shared().acquire(in_time));
       use(book.exclusive().acquire(in_time));
     }},
    {"semaphore",
     [](const client& redis, const std::string& name) {
       const auto seats = redis.semaphore(name + " semaphore");
       auto held = seats.acquire(in_time);
       seats.set_permits(0);  // those who ask say it again
       expect_to_wait_in_vain(seats.try_acquire({.timeout = moment}));
       use(std::move(held));
     }},
    {"mode lock",
     [](const client& redis, const std::string& name) {
       const auto resource = redis.mode_lock(name + " modes");
       auto held = resource.in(lock_mode::exclusive).acquire(in_time);
       resource.set_value(held, "");
       use(std::move(held));
     }},
    {"latch",
     [](const client& redis, const std::string& name) {
       const auto gate = redis.latch(name + " latch");
       const lock_key key{space_of(redis), gate.name()};
       const removed_unless_done last{redis, key.value_key(), key.slot()};
       (void)gate.try_set(1);
       expect_to_wait_in_vain(gate.try_wait({.timeout = moment}));
       gate.count_down();
     }},
    {"barrier",
     [](const client& redis, const std::string& name) {
       const auto others = redis.barrier(name + " barrier", 2);
       expect_to_wait_in_vain(others.try_arrive_and_wait({.timeout = moment}));
     }},
    {"counter",
     [](const client& redis, const std::string& name) {
       const auto count = redis.counter(name);
       const dialects::value_key key{space_of(redis), "counter", name};
       const removed_unless_done last{redis, key.key, key.slot};
       count.set(1);
       count.set(0);  // has no key then
     }},
    {"rate limiter",
     [](const client& redis, const std::string& name) {
       (void)redis.rate_limiter(name, {.rate = 1000}).try_acquire();
     }},
    {"once per interval",
     [](const client& redis, const std::string& name) {
       const auto job = redis.once_per(name + " job", {.interval = 1h});
       auto run = job.try_begin(in_time).value();
       job.finish(run, run_end::not_started).value();  // leaves no record
     }},
};

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace

void try_every_kind(const client& redis, std::string_view name, deployed as,
                    std::vector<finding>& into) {
  std::vector<std::string> working, denied;
  for (const auto& [kind, run, needs_one_server] : trials) {
    if (needs_one_server && as == deployed::cluster) continue;
    try {
      run(redis, std::string(name));
      working.emplace_back(kind);
    } catch (const failure& broken) {
      if (broken.reason() == errc::permission_denied) {
        denied.emplace_back(kind);
        continue;
      }
      into.push_back({severity::problem, "kinds", std::string(kind) + ": " + broken.what(),
                      "see docs/server-errors.md"});
    }
  }
  if (!working.empty()) into.push_back({severity::ok, "kinds", joined(working) + " work", ""});
  if (denied.empty()) return;
  into.push_back({severity::ok, "kinds",
                  "this user may not use " + joined(denied) + " (see `holdfast acl --kind`)", ""});
}

}  // namespace holdfast::doctor
