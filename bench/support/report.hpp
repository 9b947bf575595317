// The figures: printed as they come, then written as JSON and as a picture.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/server.hpp"

namespace holdfast::bench {

struct figure {
  std::string name;  // "uncontended.p50_vs_spinning_socket"
  double value = 0;
  std::string unit;
  std::string limit;  // "<= 1.15", or empty: told, not judged
  bool holds = true;
};

class report {
 public:
  void at_most(std::string name, double value, std::string unit, double limit);
  void at_least(std::string name, double value, std::string unit, double limit);
  void tell(std::string name, double value, std::string unit);
  void skip(const std::string& name, const std::string& why);

  bool all_hold() const;
  void write_json(const std::string& path) const;
  void write_svg(const std::string& path) const;

 private:
  void add(figure one);

  std::vector<figure> figures_;
};

// What a question gets to answer it.
struct setting {
  const server& redis;
  report& results;
  bool quick;

  int rounds() const { return quick ? 3 : 10; }
  std::chrono::milliseconds slice() const { return std::chrono::milliseconds(quick ? 100 : 300); }
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
void all_of8(const setting& with);
void tls_pair(const setting& with);
void quorum5(const setting& with);

}  // namespace holdfast::bench
