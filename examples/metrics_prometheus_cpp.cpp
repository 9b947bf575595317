// A service that has prometheus-cpp already shows metrics of its locks among its own.
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/text_serializer.h>

#include <holdfast/holdfast.hpp>

#include "prometheus_text.hpp"
#include "server_url.hpp"

namespace {

// [snippet collectable]
// What prometheus-cpp asks at each scrape. It counts nothing: `holdfast::metrics` does.
class lock_metrics final : public prometheus::Collectable {
 public:
  explicit lock_metrics(std::shared_ptr<const holdfast::metrics> counted)
      : counted_(std::move(counted)) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    return prometheus_text::read(counted_->text());
  }

 private:
  const std::shared_ptr<const holdfast::metrics> counted_;
};
// [snippet end]

// Whether it shows each line of our page, with the same labels.
bool shows_all(const prometheus::Collectable& shown, const std::string& ours) {
  std::ostringstream shown_page;
  prometheus::TextSerializer{}.Serialize(shown_page, shown.Collect());
  const auto page = shown_page.str();
  std::cout << page;
  return std::ranges::count(page, '\n') == std::ranges::count(ours, '\n') &&
         page.find(R"(holdfast_held{kind="mutex",lock="a \"b\\"} 1)") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  // [snippet exposer]
  const auto metrics = std::make_shared<holdfast::metrics>(
      holdfast::metrics_options{.label = [](std::string_view name) { return std::string{name}; }});
  const auto locks = std::make_shared<lock_metrics>(metrics);  // the exposer does not own it
  prometheus::Exposer exposer{"127.0.0.1:0"};                  // that of the service
  exposer.RegisterCollectable(locks);

  holdfast::client_options options;
  options.observer = metrics;
  const holdfast::client redis{server_url(argc, argv), options};
  // [snippet end]
  const auto held = redis.mutex(R"(a "b\)").acquire();
  return shows_all(*locks, metrics->text()) ? 0 : 1;
}
