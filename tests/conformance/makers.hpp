// How each kind of lock of the catalogue is made, and where it cannot be.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <holdfast/holdfast.hpp>

namespace holdfast::conformance {

using maker = std::function<lock(const client&, const std::string&)>;

using all_makers = std::map<std::string_view, maker>;

inline all_makers native_makers() {
  return {
      {"mutex", [](auto& redis, auto& name) { return redis.mutex(name); }},
      {"mutex without tokens",
       [](auto& redis, auto& name) { return redis.mutex(name, {.fencing = fencing::off}); }},
      {"fair mutex", [](auto& redis, auto& name) { return redis.mutex(name, {.fair = true}); }},
      {"recursive mutex", [](auto& redis, auto& name) { return redis.recursive_mutex(name); }},
      {"several mutexes",
       [](auto& redis, auto& name) {
         return all_of({redis.mutex(name), redis.mutex("with " + name)});
       }},
      {"mutex of a quorum", [](auto& redis, auto& name) { return quorum{{redis}}.mutex(name); }},
      {"election", [](auto& redis, auto& name) { return redis.election(name); }},
      {"reader", [](auto& redis, auto& name) { return redis.read_write_lock(name).shared(); }},
      {"upgradeable reader",
       [](auto& redis, auto& name) { return redis.read_write_lock(name).upgradeable(); }},
      {"writer", [](auto& redis, auto& name) { return redis.read_write_lock(name).exclusive(); }},
      {"semaphore", [](auto& redis, auto& name) { return redis.semaphore(name); }},
      {"mode lock, NL to PW",
       [](auto& redis, auto& name) {
         return redis.mode_lock(name).in(lock_mode::protected_write);
       }},
      {"mode lock, EX",
       [](auto& redis, auto& name) { return redis.mode_lock(name).in(lock_mode::exclusive); }},
  };
}

inline all_makers redisson_makers() {
  return {
      {"Redisson's RLock",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::redisson()); }},
      {"Redisson's RFairLock",
       [](auto& redis, auto& name) {
         return redis.mutex(name, {.fair = true}, dialect::redisson());
       }},
      {"Redisson's RSpinLock",
       [](auto& redis, auto& name) {
         return redis.mutex(name, {}, dialect::redisson(redisson_lock::spin));
       }},
      {"Redisson's RFencedLock",
       [](auto& redis, auto& name) {
         return redis.mutex(name, {}, dialect::redisson(redisson_lock::fenced));
       }},
      {"Redisson's RReadWriteLock, reader",
       [](auto& redis, auto& name) {
         return redis.read_write_lock(name, {}, dialect::redisson()).shared();
       }},
      {"Redisson's RReadWriteLock, writer",
       [](auto& redis, auto& name) {
         return redis.read_write_lock(name, {}, dialect::redisson()).exclusive();
       }},
      {"Redisson's RSemaphore",
       [](auto& redis, auto& name) { return redis.semaphore(name, {}, dialect::redisson()); }},
      {"Redisson's RPermitExpirableSemaphore",
       [](auto& redis, auto& name) {
         return redis.semaphore(name, {}, dialect::redisson(redisson_lock::expirable));
       }},
  };
}

inline all_makers foreign_makers() {
  return {
      {"plain lock, as redis-py's",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::redis_py()); }},
      {"go-zero's RedisLock",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::go_zero()); }},
      {"Spring's registry, SPIN_LOCK",
       [](auto& redis, auto& name) {
         return redis.mutex(name, {}, dialect::spring_integration({"a"}));
       }},
      {"Spring's registry, PUB_SUB_LOCK",
       [](auto& redis, auto& name) {
         const spring_registry told{.registry_key = "b", .mode = registry_mode::pub_sub};
         return redis.mutex(name, {}, dialect::spring_integration(told));
       }},
      {"python-redis-lock's Lock",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::python_redis_lock()); }},
      {"ShedLock's lock of a job",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::shedlock()); }},
      {"redsync's Mutex",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::redlock()); }},
      {"node-redlock's Lock",
       [](auto& redis, auto& name) {
         const auto how = dialect::redlock({redlock_library::node_redlock});
         return redis.mutex(name, {}, how);
       }},
      {"rueidislock's lock",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::rueidislock()); }},
      {"Symfony's lock",
       [](auto& redis, auto& name) { return redis.mutex(name, {}, dialect::symfony()); }},
      {"Symfony's lock, reader",
       [](auto& redis, auto& name) {
         return redis.read_write_lock(name, {}, dialect::symfony()).shared();
       }},
      {"Symfony's lock, writer",
       [](auto& redis, auto& name) {
         return redis.read_write_lock(name, {}, dialect::symfony()).exclusive();
       }},
      {"redis-semaphore's Semaphore",
       [](auto& redis, auto& name) {
         return redis.semaphore(name, {}, dialect::redis_semaphore());
       }},
      {"Redlock over a quorum",
       [](auto& redis, auto& name) { return quorum{{redis}}.mutex(name, {}, dialect::redlock()); }},
  };
}

inline const all_makers& makers() {
  static const all_makers all = [] {
    auto every = native_makers();
    every.merge(redisson_makers());
    every.merge(foreign_makers());
    return every;
  }();
  return all;
}

// Those whose keys have several hash slots, and those whose members would be the cluster.
inline bool is_refused_over_cluster(std::string_view kind) {
  static const std::set<std::string_view> all = {"mutex of a quorum", "Redlock over a quorum",
                                                 "rueidislock's lock", "python-redis-lock's Lock"};
  return all.contains(kind);
}

// A request that excludes it.
inline const maker& rival_of(std::string_view kind) {
  if (kind == "reader") return makers().at("writer");
  if (kind == "Redisson's RReadWriteLock, reader") {
    return makers().at("Redisson's RReadWriteLock, writer");
  }
  if (kind == "Symfony's lock, reader") return makers().at("Symfony's lock, writer");
  return makers().at(kind);
}

}  // namespace holdfast::conformance
