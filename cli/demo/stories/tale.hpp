// A story in two runs: many do the same at once, without a lock and under one. Each is a file here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/demo/store.hpp"

namespace holdfast::cli::demo {

// The tools of one process of a run.
struct scene {
  store& data;
  const client& redis;
  int people;   // in all processes
  bool locked;  // this run is under a lock
};

// The state of the books after a run.
struct tally {
  std::int64_t done = 0;
  std::int64_t expected = 0;
  std::int64_t wrong = 0;
  std::int64_t refused = 0;  // writes that came too late
};

// Made in every process of a run. `act` is called by many threads.
class tale {
 public:
  explicit tale(const scene& at) : at_(at) {}
  virtual ~tale() = default;
  tale(const tale&) = delete;
  tale& operator=(const tale&) = delete;

  virtual std::vector<std::string> keys() const = 0;   // of the application
  virtual std::vector<std::string> locks() const = 0;  // their names
  virtual void open() {}
  virtual void act(int person) = 0;         // everything that this one does
  virtual bool may_thaw() { return true; }  // of a process that froze itself
  virtual tally check() = 0;

 protected:
  std::string key(const std::string& name) const { return at_.data.key(name); }
  // Held until the lease is destroyed; nothing in the run without locks.
  std::optional<lease> hold(const lock& wanted) const {
    if (!at_.locked) return std::nullopt;
    return wanted.acquire({.timeout = forever});
  }

  const scene at_;
};

// The facts of a story before it begins.
struct plot {
  std::string_view name;   // on the command line
  std::string_view lock;   // "a mutex for each order"
  std::string_view wrong;  // the name of the count: "ORDERS TWICE"
  int most_threads;        // of each process
  bool freezes;            // a holder, in the run under the lock
  std::unique_ptr<tale> (*begin)(const scene&);
};

extern const plot orders;
extern const plot balance;
extern const plot leader;
extern const plot seats;

const plot* find_plot(std::string_view name);  // null: another story

}  // namespace holdfast::cli::demo
