#include "cli/duration.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// For what is longer than this, so that no sum overflows: no option takes it.
constexpr milliseconds beyond_all = std::chrono::hours{24 * 365 * 10};

std::optional<milliseconds> unit(std::string_view text) {
  if (text == "ms") return milliseconds{1};
  if (text == "s") return std::chrono::seconds{1};
  if (text == "m" || text == "min") return std::chrono::minutes{1};
  if (text == "h") return std::chrono::hours{1};
  return std::nullopt;
}

// As it would be given: in the largest unit that leaves no rest.
std::string in_one_unit(milliseconds duration) {
  const auto ms = duration.count();
  if (ms > 0 && ms % 3'600'000 == 0) return fmt::format("{}h", ms / 3'600'000);
  if (ms > 0 && ms % 60'000 == 0) return fmt::format("{}m", ms / 60'000);
  if (ms > 0 && ms % 1000 == 0) return fmt::format("{}s", ms / 1000);
  return fmt::format("{}ms", ms);
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto one = unit(text.substr(digits));
  double count = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + digits, count, std::chars_format::fixed);
  if (text == "0") return milliseconds{0};
  if (!one || digits == 0 || code != std::errc{} || end != text.data() + digits)
    return std::nullopt;
  const double total = count * static_cast<double>(one->count());
  if (total >= static_cast<double>(beyond_all.count())) return beyond_all;
  // A fraction that is decimal need not be binary.
  const double whole = std::round(total);
  if (std::abs(total - whole) > 1e-6) return std::nullopt;
  return milliseconds{static_cast<milliseconds::rep>(whole)};
}

std::string show_duration(milliseconds duration) {
  const auto ms = duration.count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 60'000) return fmt::format("{}.{}s", ms / 1000, ms % 1000 / 100);
  const auto minutes = ms / 60'000;
  if (minutes < 60) return fmt::format("{}m {}s", minutes, ms % 60'000 / 1000);
  if (minutes < 24 * 60) return fmt::format("{}h {}m", minutes / 60, minutes % 60);
  return fmt::format("{}d {}h", minutes / (24 * 60), minutes / 60 % 24);
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, milliseconds& into,
                          const std::string& description, duration_range range) {
  const auto take = [&into, range, name](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed) {
      throw CLI::ValidationError(name,
                                 "expected a duration such as 500ms, 10s, 2m or 1h, in whole "
                                 "milliseconds");
    }
    if (*parsed < range.least || *parsed > range.most) {
      throw CLI::ValidationError(
          name, fmt::format("must be {} to {}", in_one_unit(range.least), in_one_unit(range.most)));
    }
    into = *parsed;
  };
  return command.add_option_function<std::string>(name, take, description)
      ->type_name("DURATION")
      ->default_str(in_one_unit(into));
}

}  // namespace holdfast::cli
