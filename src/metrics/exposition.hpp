// Prometheus' text format, version 0.0.4.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "metrics/histogram.hpp"

namespace holdfast::metering {

// One after the other: a family, then its samples. Thread safety: none.
class exposition {
 public:
  struct label {
    std::string_view name;
    std::string_view value;  // empty: as if the label were not there
  };
  using labels = std::initializer_list<label>;

  void begin(std::string_view family, std::string_view type, std::string_view help);
  void sample(labels of, std::int64_t value);
  void sample(labels of, const histogram& times);

  std::string take() && { return std::move(text_); }

 private:
  void line(std::string_view suffix, labels of, std::string_view at_most, std::string_view value);

  std::string_view family_;
  std::string text_;
};

}  // namespace holdfast::metering
