// A client logs in by tokens that end, as managed services give them.
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

// The token service of this example. Yours asks the service over the network, and may block.
class token_service {
 public:
  std::string token_for(const std::string& /*user*/) { return "token-" + std::to_string(++given_); }
  int given() const { return given_; }

 private:
  std::atomic<int> given_{0};
};

}  // namespace

int main() {
  const auto tokens = std::make_shared<token_service>();
  // [snippet credentials]
  holdfast::client_options options;
  options.credentials = [tokens]() -> holdfast::login {
    return {.username = "shop",
            .password = tokens->token_for("shop"),
            .valid_for = std::chrono::minutes{15}};
  };
  options.log = [](holdfast::log_level, std::string_view line) { std::cerr << line << '\n'; };
  // [snippet end]
  const holdfast::embedded_server server;
  const holdfast::client redis{server.url(), options};
  const auto got = redis.mutex("stock").try_acquire();
  // An embedded server knows no users.
  const bool refused = !got && got.error().reason() == holdfast::errc::authentication;
  std::cout << tokens->given() << " tokens, " << (refused ? "refused" : "let in") << '\n';
}
