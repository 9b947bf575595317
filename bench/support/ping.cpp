#include "support/ping.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"

namespace holdfast::bench {

double ping_p50(const setting& with) {
  with.redis.place(placement::two_cores);
  raw_client socket(with.redis.port(), microseconds{0});
  std::vector<double> took;
  for (int i = 0; i < 3000; ++i) {
    const auto before = net::now();
    socket.command("*1\r\n$4\r\nPING\r\n");
    took.push_back(std::chrono::duration<double, std::micro>(net::now() - before).count());
  }
  with.redis.place(placement::free);
  return median(std::move(took));
}

}  // namespace holdfast::bench
