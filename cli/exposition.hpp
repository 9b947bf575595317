// Metrics as Prometheus reads them: text format 0.0.4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::cli {

class exposition {
 public:
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";
  using labels = std::vector<std::pair<std::string_view, std::string_view>>;

  // Begins a family: all samples of one metric stand together.
  void family(std::string_view name, std::string_view type, std::string_view help);
  // Values of labels may be any bytes: those that are no UTF-8 are written as \xNN.
  void sample(const labels& of, double value);
  void sample(const labels& of, std::uint64_t value);

  const std::string& text() const noexcept { return text_; }

 private:
  void begin_sample(const labels& of);

  std::string family_;
  std::string text_;
};

}  // namespace holdfast::cli
