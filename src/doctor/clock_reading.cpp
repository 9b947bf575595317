#include "doctor/clock_reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "net/clock.hpp"
#include "redis/connection/server_reply.hpp"

namespace holdfast::doctor {
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
    best = {server, said->time_since_epoch() - ours, uncertain, before + trip / 2};
  }
  return best;
}

clock_speed speed_between(const clock_reading& first, const clock_reading& second) {
  const auto span = std::chrono::floor<milliseconds>(second.at - first.at).count();
  if (span <= 0) return {0, std::numeric_limits<std::int64_t>::max()};
  const auto of_span = [span](microseconds part) { return part.count() * 1000 / span; };
  return {of_span(second.ahead - first.ahead), of_span(first.uncertain + second.uncertain)};
}

std::string in_percent(std::int64_t millionths) {
  const auto hundredths = (millionths + (millionths < 0 ? -50 : 50)) / 100;
  const auto size = hundredths < 0 ? -hundredths : hundredths;
  const auto rest = std::to_string(size % 100);
  return std::string(hundredths < 0 ? "-" : "") + std::to_string(size / 100) + "." +
         (rest.size() < 2 ? "0" : "") + rest + " %";
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

}  // namespace holdfast::doctor
