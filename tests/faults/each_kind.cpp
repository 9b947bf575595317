#include "faults/each_kind.hpp"

#include <thread>

#include "support/eventually.hpp"

namespace holdfast::faults {

using support::eventually;
using namespace std::chrono_literals;

void crew::await_queue(std::int64_t many) const {
  (void)eventually(
      [&] {
        return at_their_database(server, {"ZCARD", space.named("{a}:w")}).number >= many;
      },
      250ms);
}

resp::value at_their_database(const support::private_server& server,
                              const std::vector<std::string>& command) {
  std::vector<std::string> words{"EVAL", "redis.call('SELECT', 1) return redis.call(unpack(ARGV))",
                                 "0"};
  words.insert(words.end(), command.begin(), command.end());
  return server.command(words);
}

std::string attempt(const std::function<void(const crew&)>& work,
                    const support::private_server& server, const client_options& options) {
  const auto url = "unix://" + server.socket() + "?db=1";
  try {
    const client one{url, options}, two{url, options};
    work({one, two, server, key_space{options.tenant}});
  } catch (const failure& refused) {
    return refused.what();
  }
  return {};
}

void use(const crew& us, const lock& mine, const lock& theirs) {
  auto held = mine.try_acquire({.timeout = 300ms});
  if (held) (void)held->extend(20s);
  (void)theirs.try_acquire({.timeout = 30ms});
  std::jthread waits([&] { (void)theirs.try_acquire({.timeout = 400ms}); });
  us.await_queue(1);
  std::jthread waits_too([&] { (void)mine.try_acquire({.timeout = 400ms}); });
  us.await_queue(2);
  if (held) (void)held->release();
}

namespace {

void use_all(const crew& us, const std::function<lock(const client&)>& make) {
  use(us, make(us.one), make(us.two));
}

// Somebody whose lease ends, while another holds on, is forgotten by who comes next.
void outlive(const lock& brief, const lock& lasting) {
  const auto ends = brief.try_acquire({.timeout = 300ms});
  const auto lasts = lasting.try_acquire({.timeout = 300ms});
  if (ends) (void)eventually([&] { return !ends->held(); }, 1s);
  (void)lasting.try_acquire({.timeout = 300ms});
}

void use_modes(const crew& us) {
  const auto first = us.one.mode_lock("a"), second = us.two.mode_lock("a");
  use(us, first.in(lock_mode::exclusive), second.in(lock_mode::protected_read));
  outlive(us.one.read_write_lock("a", {.lease = 50ms, .renewal = renewal::none}).shared(),
          us.two.read_write_lock("a").shared());
  if (const auto held = first.in(lock_mode::exclusive).try_acquire({.timeout = 300ms})) {
    first.set_value(*held, "left behind");
    first.set_value(*held, "");
    (void)first.value(*held);
  }
}

void use_upgrades(const crew& us) {
  const auto first = us.one.read_write_lock("a"), second = us.two.read_write_lock("a");
  const auto reads = second.shared().try_acquire({.timeout = 300ms});
  if (const auto held = first.upgradeable().try_acquire({.timeout = 300ms})) {
    (void)first.upgrade(*held).try_acquire({.timeout = 50ms});
  }
}

void use_permits(const crew& us) {
  const auto pool = us.one.semaphore("a", {.permits = 2});
  pool.set_permits(3);
  use(us, pool.permits(3), us.two.semaphore("a", {.permits = 2}).permits(2));
  pool.set_permits(2);
}

void use_latch(const crew& us) {
  const auto mine = us.one.latch("a"), theirs = us.two.latch("a");
  (void)mine.try_set(2);
  (void)mine.count();
  (void)theirs.try_wait({.timeout = 30ms});
  std::jthread waits([&] { (void)theirs.try_wait({.timeout = 400ms}); });
  us.await_queue(1);
  (void)mine.count_down();
  (void)mine.count_down();
}

void use_barrier(const crew& us) {
  std::vector<std::string> went_on_long_ago{"ZADD", us.space.named("{a}:g")};
  for (const auto* who : {"a", "b", "c", "d", "e", "f", "g", "h", "i"}) {
    went_on_long_ago.insert(went_on_long_ago.end(), {"1", who});
  }
  (void)at_their_database(us.server, went_on_long_ago);
  const auto mine = us.one.barrier("a", 2), theirs = us.two.barrier("a", 2);
  (void)theirs.try_arrive_and_wait({.timeout = 30ms});
  std::jthread waits([&] { (void)theirs.try_arrive_and_wait({.timeout = 400ms}); });
  us.await_queue(1);
  (void)mine.try_arrive_and_wait({.timeout = 300ms});
}

void use_counter(const crew& us) {
  const auto stock = us.one.counter("a");
  (void)stock.add(5);
  (void)stock.update("return value + 1");
  (void)stock.get();
  stock.set(0);
}

void use_rate(const crew& us) {
  (void)us.one.rate_limiter("a", {.rate = 2, .burst = 1}).try_acquire();
}

void use_once_per(const crew& us) {
  const once_per_options often{.at_least_for = 1h, .run_again = run_again::failed};
  for (const auto how : {run_end::not_started, run_end::failed, run_end::succeeded}) {
    const auto mine = us.one.once_per("a", often);
    if (auto run = mine.try_begin({.timeout = 300ms})) (void)mine.finish(*run, how);
  }
  (void)us.two.once_per("a", often).try_begin();
  use_all(us, [](const client& of) { return of.mutex("a"); });
}

void use_fenced(const crew& us) {
  (void)us.one.fenced_set("a", "x", fencing_token{4096});
  (void)us.one.fenced_hset("a:hash", {{"field", "x"}}, fencing_token{4096});
}

void use_election(const crew& us) {
  const auto leads = us.one.election("a");
  use(us, leads, us.two.election("a"));
  (void)leads.leader();
}

}  // namespace

const std::vector<group>& groups() {
  const auto with = [](auto make) { return [make](const crew& us) { use_all(us, make); }; };
  static const std::vector<group> all = {
      {{"mutex", "mutex without tokens", "fair mutex", "recursive mutex", "election"},
       {with([](const client& of) { return of.mutex("a"); }),
        with([](const client& of) { return of.mutex("a", {.fencing = fencing::off}); }),
        with([](const client& of) { return of.mutex("a", {.fair = true}); }),
        with([](const client& of) { return of.recursive_mutex("a").of(owner{}); }), use_election}},
      {{"several mutexes"}, {with([](const client& of) {
         return all_of({of.mutex("a"), of.mutex("a2")});
       })}},
      {{"mutex of a quorum"}, {with([](const client& of) { return quorum{{of}}.mutex("a"); })}},
      {{"reader", "upgradeable reader", "writer", "semaphore", "mode lock, NL to PW",
        "mode lock, EX"},
       {with([](const client& of) { return of.read_write_lock("a").exclusive(); }), use_upgrades,
        with([](const client& of) { return of.read_write_lock("a").exclusive(); }), use_permits,
        use_modes, use_modes}},
      {{"latch"}, {use_latch}},
      {{"barrier"}, {use_barrier}},
      {{"counter", "block of ids"},
       {use_counter, [](const crew& us) { (void)us.one.id_generator("a").next(); }}},
      {{"fenced write"}, {use_fenced}},
      {{"rate limiter"}, {use_rate}},
      {{"once per interval"}, {use_once_per}},
  };
  return all;
}

}  // namespace holdfast::faults
