// Over TLS: nothing is said before the server has proved who it is.
//   tls URL AUTHORITY    "rediss://redis.example:6379" /etc/redis/ca.pem
#include <iostream>
#include <string>

#include <holdfast/holdfast.hpp>

namespace {

std::string try_with(const std::string& url, const std::string& authority) {
  // [snippet client]
  const holdfast::client redis{url, {.tls = {.ca_file = authority}}};
  const auto held = redis.mutex("orders").try_acquire();
  if (!held && held.error().reason() == holdfast::errc::untrusted_server) {
    return "not our server";  // what() says why, and what to do
  }
  // [snippet end]
  return held ? "locked" : held.error().what();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string url = argv[1];
  const std::string authority = argv[2];
  std::cout << "with its authority: " << try_with(url, authority)
            << ", with those of the system: " << try_with(url, "") << '\n';
}
