#include "faults/runs/worker.hpp"

#include <poll.h>

#include <atomic>
#include <functional>
#include <random>
#include <stdexcept>
#include <thread>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;
using history::nanoseconds;

constexpr int threads = 3;

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

// One thread of a worker.
class contender {
 public:
  contender(const assignment& what, const client& redis, recorder& log, std::uint64_t seed)
      : until_(what.until), resource_(what.resources, what.mode), log_(log), random_(seed) {
    for (const auto& one : contests()) locks_.push_back(redis.mutex(one.name, one.options));
  }

  void run() {
    while (time_now() < until_) {
      take(any(locks_.size()), any(4) == 0 ? milliseconds(100) : milliseconds(5000));
      pause(milliseconds(any(4)));
    }
    for (std::size_t i = 0; i < locks_.size(); ++i) take(i, milliseconds(20'000));
  }

 private:
  std::size_t any(std::size_t below) { return random_() % below; }

  void take(std::size_t which, milliseconds timeout) {
    const auto& options = contests()[which].options;
    turn_ = {.operation = log_.next_operation(), .lock = contests()[which].name};
    tell(kind::called, [&](event& one) {
      one.until = one.time + timeout;
      one.lease = *options.lease;
      one.note = options.fair ? "fair" : "";
    });
    auto got = locks_[which].try_acquire({.timeout = timeout});
    if (got) return hold(*std::move(got));
    const bool unclear = got.error().reason() == errc::unavailable;
    tell(unclear ? kind::unclear : kind::failed,
         [&](event& one) { one.note = got.error().what(); });
  }

  void hold(lease got) {
    turn_.token = got.token().value();
    tell(kind::won, [&](event& one) { one.until = one.time + got.remaining(); });
    {
      std::atomic<bool> told{false};
      const auto turn = turn_;
      const std::stop_callback on_loss(got.lost(), [&] {
        auto lost = turn;
        lost.what = kind::lost;
        log_.record(lost);
        told = true;
      });
      change(got);
      if (!look(got)) wait_for(told);
    }
    tell(kind::releasing, [](event& one) { one.until = one.time + patience; });
    const auto released = got.release();
    tell(kind::released, [&](event& one) { one.note = released ? "" : released.error().what(); });
  }

  // Adds one to what the lock protects. It does not look whether it still has the lock: that is
  // what the tokens are for.
  void change(lease& got) {
    const auto number = resource_.read(turn_.lock, turn_.token);
    if (!number) return;
    pause(any(20) == 0 ? milliseconds(any(400)) : milliseconds(any(4)));
    look(got);
    auto writer = turn_;
    writer.time = time_now();
    writer.process = ::getpid();
    resource_.write(writer, *number + 1);
  }

  bool look(const lease& got) {
    const auto before = time_now();
    const auto remaining = got.remaining();
    const bool held = remaining > milliseconds(0) || got.held();
    tell(held ? kind::held : kind::ended, [&](event& one) {
      one.time = before;
      if (held) one.until = before + remaining;
    });
    return held;
  }

  // Counts rather than looks at a clock: the process may be frozen meanwhile.
  static void wait_for(const std::atomic<bool>& told) {
    for (int i = 0; i < 200 && !told; ++i) pause(milliseconds(5));
  }

  void tell(kind what, const std::function<void(event&)>& details) {
    auto one = turn_;
    one.time = time_now();
    one.what = what;
    details(one);
    log_.record(one);
  }

  nanoseconds until_;
  std::vector<lock> locks_;
  resource resource_;
  recorder& log_;
  std::mt19937_64 random_;
  event turn_;  // what all events of the present acquisition have
};

}  // namespace

const std::vector<contested>& contests() {
  static const std::vector<contested> all{
      {"usual", {.lease = milliseconds(500)}},
      {"fair", {.lease = milliseconds(400), .fair = true}},
      {"kept", {.lease = milliseconds(500), .retain = milliseconds(400)}},
      {"fixed", {.lease = milliseconds(300), .renewal = renewal::none}},
  };
  return all;
}

milliseconds longest_lease() {
  milliseconds longest{};
  for (const auto& one : contests()) longest = std::max(longest, *one.options.lease);
  return longest;
}

std::vector<std::string> assignment::to_arguments() const {
  return {"worker",
          server,
          resources,
          directory,
          std::to_string(seed),
          std::to_string(until.count()),
          mode == tokens::checked ? "checked" : "ignored"};
}

assignment assignment::from_arguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 7) throw std::invalid_argument("a worker needs six arguments");
  return {arguments[1],
          arguments[2],
          arguments[3],
          std::stoull(arguments[4]),
          nanoseconds(std::stoll(arguments[5])),
          arguments[6] == "checked" ? tokens::checked : tokens::ignored};
}

void work(const assignment& what) {
  const client redis(what.server,
                     {.connect_timeout = patience, .response_timeout = patience, .name = "faults"});
  recorder log(what.directory);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(
        [&, i] { contender(what, redis, log, what.seed * threads + std::uint64_t(i)).run(); });
  }
  for (auto& one : running) one.join();
}

}  // namespace holdfast::faults
