// What the HTTP server answers.
#pragma once

#include <functional>
#include <string>

namespace holdfast::cli::http {

struct answer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
};

inline answer plain(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n"};
}

// As application/problem+json (RFC 9457).
answer problem(int status, const std::string& detail);

// Gives an answer that was not ready at once. From any thread; the first call counts, and one that
// comes too late does nothing.
using answer_later = std::function<void(answer)>;

}  // namespace holdfast::cli::http
