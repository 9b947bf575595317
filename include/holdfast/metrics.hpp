/// \file
/// Counters and histograms of a program's locks, as Prometheus reads them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/detail/export.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

/// What `metrics` tell apart.
struct metrics_options {
  /// Makes the label `lock` of a lock's name: "orders" of "orders:4711", for example. An empty
  /// label is none. Empty, the default: no labels, since names of locks may be without number.
  ///
  /// It is called for each event, so it should be quick. The same name must always give the same
  /// label. Thread safety: must be callable from any number of threads.
  std::function<std::string(std::string_view name)> label{};

  /// How many labels there may be: 1 to 10,000. An event with a label beyond that is counted
  /// without a label, and in `holdfast_labels_dropped_total`. Each label takes some 2 KiB for each
  /// kind of lock that it is used with.
  std::size_t most_labels = 100;
};

/// Counts what happens to the locks of all clients that have it as `client_options::observer`, and
/// shows it as Prometheus reads it. docs/metrics.md lists all metrics.
///
/// Thread safety: all members may be called from any number of threads. Counting takes no
/// mutex, except for the first event of a label.
class HOLDFAST_EXPORT metrics final : public observer {
 public:
  /// Without labels.
  metrics();
  /// Throws `failure`: `invalid_argument`.
  explicit metrics(metrics_options options);
  ~metrics() override;  ///< No client may have it any more.

  void on(const event& what) override;  ///< Counts it.

  /// All metrics in Prometheus' text format: serve it with the content type
  /// `text/plain; version=0.0.4`.
  [[nodiscard]] std::string text() const;

 private:
  class registry;
  std::unique_ptr<registry> registry_;
};

}  // namespace holdfast
