#include "cli/elect_site.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/exposition.hpp"
#include "cli/printable.hpp"

namespace holdfast::cli {

elect_site::elect_site(std::string election) : election_(std::move(election)) {}

void elect_site::campaigns() {
  const std::scoped_lock guard(mutex_);
  campaigns_ = true;
}

void elect_site::leads(const lease& term) {
  const std::scoped_lock guard(mutex_);
  term_ = &term;
  campaigns_ = false;
  ++terms_;
}

void elect_site::resigns() {
  const std::scoped_lock guard(mutex_);
  term_ = nullptr;
}

void elect_site::has_lost() {
  const std::scoped_lock guard(mutex_);
  ++losses_;
}

std::optional<http::answer> elect_site::get(const http::request& asked, http::answer_later) {
  if (asked.path == "/leader") return leader();
  if (asked.path == "/ready") return ready();
  if (asked.path == "/healthz") return http::plain(200, "ok");
  if (asked.path == "/metrics") return metrics_text();
  return http::problem(404, "there are /leader, /ready, /healthz and /metrics");
}

http::answer elect_site::leader() const {
  nlohmann::ordered_json said = {{"leader", false}, {"election", as_utf8(election_)}};
  int status = 503;
  {
    const std::scoped_lock guard(mutex_);
    // Asked once: a second question could come after the deadline.
    const auto left = term_ == nullptr ? std::chrono::milliseconds{0} : term_->remaining();
    if (left.count() > 0) {
      status = 200;
      said["leader"] = true;
      said["token"] = term_->token().to_string();
      said["remaining_ms"] = left.count();
    }
  }
  return {.status = status, .type = "application/json", .body = said.dump() + "\n"};
}

http::answer elect_site::ready() const {
  const std::scoped_lock guard(mutex_);
  if (term_ != nullptr) {
    return term_->remaining().count() > 0 ? http::plain(200, "leads")
                                          : http::plain(503, "the lead is lost");
  }
  return campaigns_ ? http::plain(200, "campaigns")
                    : http::plain(503, "neither leads nor campaigns");
}

http::answer elect_site::metrics_text() const {
  exposition page;
  const exposition::labels of = {{"election", election_}};
  {
    const std::scoped_lock guard(mutex_);
    const auto left = term_ == nullptr ? std::chrono::milliseconds{0} : term_->remaining();
    page.family("holdfast_election_leader", "gauge", "Whether this candidate leads for sure.");
    page.sample(of, std::uint64_t{left.count() > 0 ? 1U : 0U});
    page.family("holdfast_election_lease_remaining_seconds", "gauge",
                "How long the lead surely lasts if it is not renewed.");
    page.sample(of, static_cast<double>(left.count()) / 1000);
    page.family("holdfast_election_terms_total", "counter",
                "How often this candidate came to lead.");
    page.sample(of, terms_);
    page.family("holdfast_election_losses_total", "counter", "How often it has lost the lead.");
    page.sample(of, losses_);
  }
  return {.type = exposition::content_type, .body = page.text() + counted_->text()};
}

}  // namespace holdfast::cli
