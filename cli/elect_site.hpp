// What `elect --listen` answers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <holdfast/lease.hpp>
#include <holdfast/metrics.hpp>

#include "cli/http/server.hpp"

namespace holdfast::cli {

// GET /leader, /ready, /healthz and /metrics of one candidate.
//
// A leader is asked at the moment of the answer, and goes by the deadline of its lease: a process
// that was frozen, or whose server has gone, never says that it leads when it may be another.
class elect_site final : public http::site {
 public:
  explicit elect_site(std::string election);

  // To be told by the client: its metrics are shown here, too.
  const std::shared_ptr<metrics>& counted() const noexcept { return counted_; }

  void campaigns();
  // Until `resigns` is called, this lease must not be changed and stay where it is.
  void leads(const lease& term);
  // It leads no more, or will give the lease back now.
  void resigns();
  void has_lost();  // the lead, which counts

  std::optional<http::answer> get(const http::request& asked, http::answer_later later) override;

 private:
  http::answer leader() const;
  http::answer ready() const;
  http::answer metrics_text() const;

  const std::string election_;
  const std::shared_ptr<metrics> counted_ = std::make_shared<metrics>();
  mutable std::mutex mutex_;
  const lease* term_ = nullptr;
  bool campaigns_ = false;
  std::uint64_t terms_ = 0;
  std::uint64_t losses_ = 0;
};

// A term of office of a candidate that may have a site: says when it begins and ends.
class term_of_office {
 public:
  explicit term_of_office(elect_site* site) : site_(site) {}
  ~term_of_office() { resign(); }
  term_of_office(const term_of_office&) = delete;
  term_of_office& operator=(const term_of_office&) = delete;

  void begin(const lease& term) {
    if (site_ != nullptr) site_->leads(term);
  }
  void resign() {
    if (site_ != nullptr) site_->resigns();
  }
  void lose() {
    if (site_ != nullptr) site_->has_lost();
  }

 private:
  elect_site* const site_;
};

}  // namespace holdfast::cli
