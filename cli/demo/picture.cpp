#include "cli/demo/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace holdfast::cli::demo {
namespace {

constexpr double left = 90;
constexpr double top = 80;
constexpr double width = 760;
constexpr double height = 360;
constexpr std::size_t points = 400;  // more would not be seen
constexpr const char* colours[] = {"#c0392b", "#c77700", "#1f6fb2", "#2e8b57"};

// 10000 as 10,000.
std::string grouped(std::int64_t number) {
  auto digits = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) digits.insert(at -= 3, ",");
  return digits;
}

// 1, 2 or 5 times a power of ten, so that there are at most six steps.
double step_for(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 6)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

struct axes {
  double seconds;
  double units;
  double x(double second) const { return left + width * second / seconds; }
  double y(double unit) const { return top + height * (1 - unit / units); }
};

std::string text(double x, double y, const char* anchor, const std::string& words,
                 const char* colour = "#333") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}">{}</text>)"
                     "\n",
                     x, y, anchor, colour, words);
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}"/>)"
                     "\n",
                     x1, y1, x2, y2, colour);
}

std::string frame(const axes& scale) {
  std::string out;
  for (double unit = 0; unit <= scale.units; unit += step_for(scale.units)) {
    out += line(left, scale.y(unit), left + width, scale.y(unit), "#e3e3e3");
    out += text(left - 10, scale.y(unit) + 5, "end", grouped(std::llround(unit)));
  }
  for (double second = 0; second <= scale.seconds; second += step_for(scale.seconds)) {
    out += line(scale.x(second), top + height, scale.x(second), top + height + 6, "#333");
    out += text(scale.x(second), top + height + 24, "middle", fmt::format("{:g}", second));
  }
  out += line(left, top + height, left + width, top + height, "#333");
  out += line(left, top, left, top + height, "#333");
  out += text(left + width / 2, top + height + 50, "middle", "seconds since the sale opened");
  out += fmt::format(
      "<text transform=\"translate(24 {:.0f}) rotate(-90)\" text-anchor=\"middle\">"
      "units in stock</text>\n",
      top + height / 2);
  return out;
}

std::string curve(const outcome& result, const axes& scale) {
  std::string path = fmt::format("{:.1f},{:.1f}", left, scale.y(static_cast<double>(result.units)));
  const auto stride = std::max<std::size_t>(1, result.orders.size() / points);
  for (std::size_t i = 0; i < result.orders.size(); ++i) {
    if (i % stride != 0 && i + 1 != result.orders.size()) continue;
    const auto& one = result.orders[i];
    path += fmt::format(" {:.1f},{:.1f}", scale.x(result.seconds_at(one)),
                        scale.y(static_cast<double>(std::max<std::int64_t>(one.left, 0))));
  }
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\" stroke-linejoin=\"round\" "
      "points=\"{}\"/>\n",
      colours[static_cast<int>(result.what)], path);
}

std::string books_of(const outcome& result) {
  const auto books = fmt::format("{} sold, {} left", grouped(result.sold), grouped(result.left));
  if (result.exact()) return "exact: " + books;
  if (result.error() <= 0) return "wrong: " + books;
  return fmt::format("wrong: {}: {} more than there were", books, grouped(result.error()));
}

std::string legend(const std::vector<outcome>& results) {
  std::string out;
  double y = top + height + 85;
  for (const auto& result : results) {
    const auto* const colour = colours[static_cast<int>(result.what)];
    out += fmt::format(R"(<rect x="{}" y="{}" width="26" height="5" fill="{}"/>)"
                       "\n",
                       left, y - 8, colour);
    out += text(left + 38, y, "start", title(result.what));
    out += text(left + 290, y, "start", books_of(result), colour);
    y += 26;
  }
  return out;
}

}  // namespace

std::string picture(const std::vector<outcome>& results) {
  axes scale{.seconds = 0.1, .units = 1};
  for (const auto& result : results) {
    for (const auto& one : result.orders) {
      scale.seconds = std::max(scale.seconds, result.seconds_at(one));
    }
    scale.units = std::max(scale.units, static_cast<double>(result.units));
  }
  std::string out =
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 620" width="900" height="620")"
      R"( font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="14" fill="#333">)"
      "\n<rect width=\"900\" height=\"620\" fill=\"white\"/>\n";
  out += fmt::format(
      "<text x=\"{}\" y=\"36\" font-size=\"20\" font-weight=\"bold\">"
      "One stock, many buyers: {} units</text>\n",
      left, grouped(results.empty() ? 0 : results.front().units));
  out += text(left, 60, "start", "Each line is the stock as the buyers wrote it to Redis.", "#666");
  out += frame(scale);
  for (const auto& result : results) out += curve(result, scale);
  return out + legend(results) + "</svg>\n";
}

}  // namespace holdfast::cli::demo
