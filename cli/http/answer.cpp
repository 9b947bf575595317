#include "cli/http/answer.hpp"

#include <nlohmann/json.hpp>

namespace holdfast::cli::http {
namespace {

const char* title_of(int status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

answer problem(int status, const std::string& detail) {
  const nlohmann::ordered_json text = {
      {"type", "about:blank"}, {"title", title_of(status)}, {"status", status}, {"detail", detail}};
  return {
      .status = status,
      .type = "application/problem+json",
      .body = text.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"};
}

}  // namespace holdfast::cli::http
