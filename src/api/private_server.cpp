#include "api/private_server.hpp"

#include <holdfast/embedded_server.hpp>

#include "embedded/shared_server.hpp"

namespace holdfast::api {

std::shared_ptr<void> start_private_server(redis::server_url& url) {
  using kind = redis::server_url::kind;
  switch (url.what) {
    case kind::server:
      return nullptr;
    case kind::embedded_private: {
      auto server = std::make_shared<embedded_server>();
      url.where = net::unix_endpoint{server->socket().string()};
      return server;
    }
    case kind::embedded_shared: {
      auto server = std::make_shared<embedded::shared_embedded_server>(
          embedded::shared_embedded_server::join(url.directory));
      url.where = net::unix_endpoint{server->socket().string(), server->endpoint().string()};
      return server;
    }
  }
  return nullptr;
}

}  // namespace holdfast::api
