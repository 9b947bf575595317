// A small HTTP server: GET and HEAD, for probes, metrics and a page.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "cli/http/allowed_hosts.hpp"
#include "cli/http/answer.hpp"
#include "cli/http/listener.hpp"
#include "cli/http/request.hpp"

namespace holdfast::cli::http {

// The answers that a program gives. The server asks for them on its only thread, so they must not
// wait for anything, a lock server least of all.
class site {
 public:
  site() = default;
  site(const site&) = delete;
  site& operator=(const site&) = delete;
  virtual ~site() = default;

  // The answer, or nothing when it comes by `later`.
  virtual std::optional<answer> get(const request& asked, answer_later later) = 0;
};

// So long a request may wait for its answer.
inline constexpr std::chrono::milliseconds for_an_answer{10'000};

// What a request that does not come in time is answered, and more than this many clients wait.
struct server_limits {
  unsigned connections = 256;
  unsigned per_address = 0;         // 0: as many as there are
  std::size_t head_bytes = 32'768;  // of a request
};

// Listens while it lives. Answers on a thread of its own, which it begins with the signal mask of
// the thread that makes it.
//
// Where the program was built without HTTP, the constructor throws `complaint`.
class server {
 public:
  server(listener at, allowed_hosts hosts, site& what, const server_limits& limits = {});
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  const std::string& url() const noexcept { return url_; }

 private:
  class daemon;
  std::string url_;
  std::unique_ptr<daemon> daemon_;
};

}  // namespace holdfast::cli::http
