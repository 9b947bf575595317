#include <holdfast/metrics.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/errc.hpp>

#include "metrics/exposition.hpp"
#include "metrics/label_table.hpp"
#include "metrics/label_text.hpp"
#include "metrics/series.hpp"

namespace holdfast {
namespace {

using metering::exposition;
using metering::labelled;
using metering::series;

constexpr std::array<std::string_view, metering::lock_kinds> kinds{
    "unknown", "mutex", "mode_lock", "semaphore", "latch", "barrier", "several"};

// The series of all kinds and labels, one after the other.
template <typename Show>
void for_each(const std::vector<const labelled*>& all, Show&& show) {
  for (const auto* const one : all) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      if (const auto* const seen = one->seen(kind)) show(*seen, kinds[kind], one->label());
    }
  }
}

}  // namespace

class metrics::registry {
 public:
  explicit registry(metrics_options&& options)
      : label_(std::move(options.label)), labels_(options.most_labels) {}

  void count(const event& what) {
    if (what.type == event_type::reconnected) ++reconnects_;
    if (what.type == event_type::failed_over) ++failovers_;
    if (what.type == event_type::login_failed) ++failed_logins_;
    if (!what.name.empty()) place_of(what.name).of(what.kind).count(what);
  }

  std::string text() const {
    auto all = labels_.all();
    all.insert(all.begin(), &unlabelled_);
    exposition out;
    show_calls(out, all);
    show_leases(out, all);
    out.begin("holdfast_reconnects_total", "counter", "Times a client has connected again.");
    out.sample({}, reconnects_);
    out.begin("holdfast_failovers_total", "counter",
              "Times a client has found another server behind its connection.");
    out.sample({}, failovers_);
    out.begin("holdfast_failed_logins_total", "counter",
              "Times a client got no new login, or a server refused one.");
    out.sample({}, failed_logins_);
    out.begin("holdfast_labels_dropped_total", "counter",
              "Events that were counted without a label, since there were too many labels.");
    out.sample({}, dropped_);
    return std::move(out).take();
  }

 private:
  using places = std::vector<const labelled*>;

  labelled& place_of(std::string_view name) {
    auto label = label_ ? metering::as_utf8(label_(name)) : std::string{};
    if (label.empty()) return unlabelled_;
    auto* const known = labels_.find_or_add(label);
    if (known == nullptr) ++dropped_;
    return known == nullptr ? unlabelled_ : *known;
  }

  static void show_calls(exposition& out, const places& all) {
    out.begin("holdfast_acquire_seconds", "histogram",
              "How long calls that wanted a lock took, by how they ended.");
    for_each(all, [&](const series& of, auto kind, auto& lock) {
      for (std::size_t i = 0; i < metering::outcomes.size(); ++i) {
        if (of.acquire[i].is_empty()) continue;
        out.sample({{"kind", kind}, {"lock", lock}, {"outcome", metering::outcomes[i]}},
                   of.acquire[i]);
      }
    });
    show(out, all, "holdfast_wait_seconds", "How long those calls took that had to wait.",
         &series::wait);
    show(out, all, "holdfast_waiters", "gauge",
         "Calls that have asked for a lock and have no answer yet.", &series::waiters);
    out.begin("holdfast_errors_total", "counter",
              "Calls that failed, and releases that were not confirmed, by errc.");
    for_each(all, [&](const series& of, auto kind, auto& lock) {
      for (std::size_t i = 0; i < of.errors.size(); ++i) {
        const auto many = static_cast<std::int64_t>(of.errors[i].load());
        const auto* const name = i == 0 ? "none" : name_of(static_cast<errc>(i));
        if (many > 0) out.sample({{"errc", name}, {"kind", kind}, {"lock", lock}}, many);
      }
    });
  }

  static void show_leases(exposition& out, const places& all) {
    show(out, all, "holdfast_hold_seconds", "How long leases were held that have ended.",
         &series::hold);
    show(out, all, "holdfast_held", "gauge", "Leases that are held.", &series::held);
    show(out, all, "holdfast_losses_total", "counter",
         "Leases that ended though their holders had not released them.", &series::losses);
    show(out, all, "holdfast_renewal_lateness_seconds",
         "How long after they were due late renewals were answered.", &series::lateness);
  }

  static void show(exposition& out, const places& all, std::string_view family,
                   std::string_view help, metering::histogram series::*which) {
    out.begin(family, "histogram", help);
    for_each(all, [&](const series& of, auto kind, auto& lock) {
      out.sample({{"kind", kind}, {"lock", lock}}, of.*which);
    });
  }
  template <typename Number>
  static void show(exposition& out, const places& all, std::string_view family,
                   std::string_view type, std::string_view help,
                   std::atomic<Number> series::*which) {
    out.begin(family, type, help);
    for_each(all, [&](const series& of, auto kind, auto& lock) {
      out.sample({{"kind", kind}, {"lock", lock}}, static_cast<std::int64_t>((of.*which).load()));
    });
  }

  const std::function<std::string(std::string_view)> label_;
  labelled unlabelled_{{}};
  metering::label_table labels_;
  std::atomic<std::int64_t> reconnects_{0}, failovers_{0}, failed_logins_{0}, dropped_{0};
};

metrics::metrics() : metrics(metrics_options{}) {}

metrics::metrics(metrics_options options) {
  if (options.most_labels < 1 || options.most_labels > 10'000) {
    throw failure{errc::invalid_argument, "metrics_options::most_labels must be 1 to 10,000"};
  }
  registry_ = std::make_unique<registry>(std::move(options));
}

metrics::~metrics() = default;

void metrics::on(const event& what) { registry_->count(what); }

std::string metrics::text() const { return registry_->text(); }

}  // namespace holdfast
