// The paths of `holdfast serve`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/http/server.hpp"
#include "cli/serve/views.hpp"
#include "cli/serve/watched_server.hpp"
#include "cli/serve/workers.hpp"

namespace holdfast::cli {

class serve_site final : public http::site {
 public:
  explicit serve_site(std::vector<std::unique_ptr<watched_server>> servers)
      : servers_(std::move(servers)) {}

  std::optional<http::answer> get(const http::request& asked, http::answer_later later) override;

 private:
  http::answer health() const;
  http::answer readiness() const;
  http::answer servers() const;
  std::optional<http::answer> api(std::string_view path, const http::request& asked,
                                  http::answer_later later);
  std::optional<http::answer> one_lock(watched_server& server, std::string_view name_url,
                                       http::answer_later later);

  // Made on another thread, since a page of a thousand locks takes its time.
  std::optional<http::answer> made_aside(std::function<json_view()> make,
                                         const http::answer_later& later);

  // Throws an answer when there is no server of this name.
  watched_server& chosen(const http::request& asked) const;

  const std::vector<std::unique_ptr<watched_server>> servers_;
  workers makers_{1, 64};
};

}  // namespace holdfast::cli
