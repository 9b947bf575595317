// The cluster that is measured.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/server.hpp"

namespace holdfast::bench {

// Masters that share the slots evenly, without replicas.
class cluster {
 public:
  // Returns when all of them serve.
  explicit cluster(std::size_t masters);

  std::string url() const;
  std::vector<std::uint16_t> ports() const;
  void place(placement where) const;
  std::chrono::nanoseconds processor_time() const;
  // The figures of one of them, summed up; it is asked at its port.
  double sum(const std::function<double(std::uint16_t)>& of) const;

 private:
  void make_known(const std::vector<std::string>& bus_ports) const;
  void await() const;

  std::vector<server> masters_;
};

}  // namespace holdfast::bench
