// Reads the page of `holdfast::metrics` back, for a metrics library that wants values and not text.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

namespace prometheus_text {

// Takes the text up to `end`, and `end` itself, away from `rest`.
inline std::string_view take(std::string_view& rest, std::string_view end) {
  const auto at = rest.find(end);
  const auto taken = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + end.size());
  return taken;
}

inline double number(std::string_view text) {
  return text == "+Inf" ? std::numeric_limits<double>::infinity() : std::stod(std::string{text});
}

// The value of a label, up to its quotation mark. In it \, " and line ends are escaped by a \.
inline std::string take_value(std::string_view& rest) {
  std::string value;
  while (!rest.empty() && rest.front() != '"') {
    const bool escaped = rest.front() == '\\' && rest.size() > 1;
    if (escaped) rest.remove_prefix(1);
    value += escaped && rest.front() == 'n' ? '\n' : rest.front();
    rest.remove_prefix(1);
  }
  take(rest, "\"");
  return value;
}

struct sample {
  std::string_view suffix;  // behind the name of the family: "", "_bucket", "_sum" or "_count"
  std::vector<prometheus::ClientMetric::Label> labels;
  std::string at_most;  // the label `le` of a bucket
  double value = 0;
};

inline sample read_sample(std::string_view line, std::string_view family) {
  sample read;
  const auto name = line.substr(0, line.find_first_of("{ "));
  read.suffix = name.substr(family.size());
  line.remove_prefix(name.size());
  while (line.front() != ' ') {
    line.remove_prefix(1);  // { or , or }
    if (line.front() == ' ') break;
    std::string label{take(line, "=\"")};
    auto value = take_value(line);
    if (label == "le") {
      read.at_most = std::move(value);
    } else {
      read.labels.push_back({std::move(label), std::move(value)});
    }
  }
  read.value = number(line.substr(1));
  return read;
}

// Samples of one histogram follow each other: its buckets, the sum, the count.
inline void add(prometheus::MetricFamily& family, sample&& read) {
  auto& metrics = family.metric;
  if (metrics.empty() || metrics.back().label != read.labels) {
    metrics.emplace_back().label = std::move(read.labels);
  }
  auto& metric = metrics.back();
  const auto count = static_cast<std::uint64_t>(read.value);
  if (read.suffix == "_bucket") {
    metric.histogram.bucket.push_back(
        {.cumulative_count = count, .upper_bound = number(read.at_most)});
  } else if (read.suffix == "_sum") {
    metric.histogram.sample_sum = read.value;
  } else if (read.suffix == "_count") {
    metric.histogram.sample_count = count;
  } else if (family.type == prometheus::MetricType::Counter) {
    metric.counter.value = read.value;
  } else {
    metric.gauge.value = read.value;
  }
}

inline prometheus::MetricType type_of(std::string_view name) {
  if (name == "counter") return prometheus::MetricType::Counter;
  if (name == "gauge") return prometheus::MetricType::Gauge;
  return prometheus::MetricType::Histogram;
}

// All families of a page, which is as `metrics::text` writes it.
inline std::vector<prometheus::MetricFamily> read(std::string_view page) {
  std::vector<prometheus::MetricFamily> families;
  while (!page.empty()) {
    auto line = take(page, "\n");
    if (line.starts_with("# HELP ")) {
      line.remove_prefix(7);
      auto& family = families.emplace_back();
      family.name = take(line, " ");
      family.help = line;
    } else if (line.starts_with("# TYPE ")) {
      families.back().type = type_of(line.substr(line.rfind(' ') + 1));
    } else {
      add(families.back(), read_sample(line, families.back().name));
    }
  }
  return families;
}

}  // namespace prometheus_text
