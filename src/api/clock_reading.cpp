#include "api/clock_reading.hpp"

#include <algorithm>
#include <utility>

#include "net/clock.hpp"
#include "redis/server_reply.hpp"

namespace holdfast::api {
namespace {

constexpr microseconds allowed_difference{300'000};

}  // namespace

std::optional<clock_reading> read_clock(std::string server, const asking& ask) {
  constexpr int samples = 5;
  std::optional<clock_reading> best;
  for (int i = 0; i < samples; ++i) {
    const auto before = net::now();
    const auto said = redis::read_time(ask({"TIME"}));
    const auto trip = net::now() - before;
    if (!said) return std::nullopt;
    const auto uncertain = std::chrono::ceil<microseconds>(trip / 2);
    if (best && best->uncertain <= uncertain) continue;
    const auto ours = std::chrono::floor<microseconds>((before + trip / 2).time_since_epoch());
    best = {server, said->time_since_epoch() - ours, uncertain};
  }
  return best;
}

std::string clock_difference::in_ms() const {
  return std::to_string(std::chrono::round<milliseconds>(between).count()) + " ms";
}

clock_difference largest_difference(const std::vector<clock_reading>& read) {
  const auto [behind, ahead] = std::ranges::minmax_element(read, {}, &clock_reading::ahead);
  const auto between = ahead->ahead - behind->ahead;
  const bool is_allowed = between - ahead->uncertain - behind->uncertain <= allowed_difference;
  return {&*behind, &*ahead, between, is_allowed};
}

}  // namespace holdfast::api
