// A user that uses all of the library once.
#pragma once

#include <string>

#include <holdfast/holdfast.hpp>

namespace holdfast::faults {

using namespace std::chrono_literals;

inline task<> coroutine(client redis) {
  auto held = co_await redis.mutex("coroutine").async_acquire();
  (void)co_await held.async_release();
}

inline void use_dialects(const client& redis) {
  const dialect all[] = {
      dialect::redisson(),
      dialect::redisson(redisson_lock::spin),
      dialect::redisson(redisson_lock::fenced),
      dialect::go_zero(),
      dialect::redis_py(),
      dialect::reentrant_thread_local(),
      dialect::python_redis_lock(),
      dialect::shedlock(),
      dialect::redlock(),
      dialect::rueidislock(),
      dialect::symfony(),
      dialect::spring_integration({"registry"}),
      dialect::token({.key_prefix = "a prefix that is longer than a small text:"})};
  int number = 0;
  for (const auto& one : all) {
    (void)redis.mutex("theirs " + std::to_string(++number), {}, one).acquire();
  }
  (void)redis.read_write_lock("their readers", {}, dialect::redisson()).shared().acquire();
  (void)redis.semaphore("their permits", {.permits = 2}, dialect::redisson()).acquire();
  (void)redis.read_write_lock("readers of a set", {}, dialect::symfony()).shared().acquire();
  (void)redis.semaphore("permits of a set", {.permits = 2}, dialect::redis_semaphore()).acquire();
  (void)redis.latch("their latch", dialect::redisson()).count();
}

inline void use_everything(const client& redis) {
  const auto held = redis.mutex("a").acquire();
  (void)redis.fenced_set("key", "value", held.token());
  (void)redis.fenced_hset("hash", {{"field", "value"}}, held.token());
  redis.counter("stock").add(1);
  redis.rate_limiter("mails", {.rate = 1000, .burst = 1000}).acquire();
  redis.id_generator("orders").next();
  redis.snowflake("events").next();
  (void)redis.latch("ready").try_set(1);
  redis.latch("ready").count_down();
  redis.barrier("round", 1).arrive_and_wait();
  (void)redis.read_write_lock("report").exclusive().acquire();
  (void)redis.mode_lock("table").in(lock_mode::exclusive).acquire();
  (void)redis.recursive_mutex("again").acquire();
  (void)all_of({redis.mutex("one"), redis.mutex("two")}).acquire();
  (void)quorum{{redis}}.mutex("vote").acquire();
  (void)redis.election("leader").leader();
  (void)inspector{redis}.list();
  use_dialects(redis);
  sync_wait(coroutine(redis));
  // A failed check has a sentence.
  if (std::string(redis.mutex("a").try_acquire().error().what()).empty()) throw errc::lost;
}

}  // namespace holdfast::faults
