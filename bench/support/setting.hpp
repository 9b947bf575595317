// The setting of the questions, and their list.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "support/measure.hpp"
#include "support/report.hpp"
#include "support/server.hpp"

namespace holdfast::bench {

// The means of a question to answer it.
struct setting {
  const server& redis;
  report& results;
  bool quick;

  int rounds() const { return quick ? 3 : 10; }
  std::chrono::milliseconds slice() const { return std::chrono::milliseconds(quick ? 100 : 300); }
  // For one thread: other work of the machine, often for parts of a second, then hits all alike.
  int turns() const { return 10 * rounds(); }
  std::chrono::milliseconds turn() const { return slice() / 10; }

  // Asks once with server and client on two cores, once on the same; `answer` gets the beginning
  // of its figures' names.
  using answering = std::function<void(placement where, const std::string& prefix)>;
  void on_each_placement(std::string_view name, const answering& answer) const;

  // The cost of a pair to client and server.
  void tell_processor(const std::string& prefix, const bench::slice& one) const;
};

// One file of figures/ each.
void uncontended(const setting& with);
void threads64(const setting& with);
void kinds(const setting& with);
void peers(const setting& with);
void coroutines(const setting& with);
void thread_scaling(const setting& with);
void renewal_load(const setting& with);
void allocations(const setting& with);
void contention(const setting& with);
void waiters200(const setting& with);
void retained(const setting& with);
void dead_waiters(const setting& with);
void listing(const setting& with);
void all_of8(const setting& with);
void tls_pair(const setting& with);
void audited_pair(const setting& with);
void quorum5(const setting& with);
void cluster_pair(const setting& with);
void cluster_handover(const setting& with);
void cluster_locks(const setting& with);
void failover(const setting& with);

}  // namespace holdfast::bench
