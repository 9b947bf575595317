// A service shows metrics of its locks to Prometheus, and writes to its log.
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

namespace {

// [snippet observer]
// Writes what took long into the log, and has all of it counted.
class slow_calls final : public holdfast::observer {
 public:
  explicit slow_calls(std::shared_ptr<holdfast::metrics> counted) : counted_(std::move(counted)) {}

  void on(const holdfast::event& what) override {
    counted_->on(what);
    const bool is_answer =
        what.type == holdfast::event_type::granted || what.type == holdfast::event_type::refused;
    if (!is_answer || what.duration < std::chrono::seconds{1}) return;
    std::cerr << "waited long for the lock " << what.name << '\n';
  }

 private:
  const std::shared_ptr<holdfast::metrics> counted_;
};
// [snippet end]

void work(const holdfast::client& redis) {
  for (const auto* const name : {"orders:1", "orders:2"}) {
    const auto held = redis.mutex(name).acquire();
    const auto refused = redis.mutex(name).try_acquire();
  }
}

// The lines of one metric.
void show(const std::string& page, std::string_view metric) {
  for (std::size_t from = 0; from < page.size();) {
    const auto end = page.find('\n', from);
    const auto line = std::string_view{page}.substr(from, end - from);
    if (line.starts_with(metric)) std::cout << line << '\n';
    from = end + 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // [snippet metrics]
  const auto metrics = std::make_shared<holdfast::metrics>(holdfast::metrics_options{
      .label = [](std::string_view name) { return std::string{name.substr(0, name.find(':'))}; },
  });
  holdfast::client_options options;
  options.observer = std::make_shared<slow_calls>(metrics);  // or metrics alone
  options.log = [](holdfast::log_level, std::string_view line) { std::cerr << line << '\n'; };
  const holdfast::client redis{server_url(argc, argv), options};
  // [snippet end]
  work(redis);
  const auto page = metrics->text();  // the answer to GET /metrics
  show(page, "holdfast_acquire_seconds_count");
  return 0;
}
