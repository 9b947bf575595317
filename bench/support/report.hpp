// The figures: printed as they come, then written as JSON and as a picture.
#pragma once

#include <string>
#include <vector>

namespace holdfast::bench {

struct figure {
  std::string name;  // "uncontended.p50_vs_spinning_socket"
  double value = 0;
  std::string unit;   // one word
  std::string limit;  // "<= 1.15", or empty: told, not judged
  bool holds = true;
};

// The figures and the machine: without it nobody can compare two reports.
struct run_facts {
  std::string command;   // as it was called
  std::string revision;  // of Holdfast
  std::string server;    // program and version
  unsigned cores = 0;
};

class report {
 public:
  // Says the facts first.
  explicit report(run_facts facts);

  void at_most(std::string name, double value, std::string unit, double limit);
  void at_least(std::string name, double value, std::string unit, double limit);
  void tell(std::string name, double value, std::string unit);
  void skip(const std::string& name, const std::string& why);

  bool all_hold() const;
  void write_json(const std::string& path) const;
  void write_svg(const std::string& path) const;

 private:
  void add(figure one);

  run_facts facts_;
  std::vector<figure> figures_;
};

}  // namespace holdfast::bench
