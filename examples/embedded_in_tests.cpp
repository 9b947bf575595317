// A server of a test's own: on a unix socket, in a private directory, gone with the test.
#include <filesystem>
#include <iostream>

#include <holdfast/holdfast.hpp>

int main() {
  std::filesystem::path directory;
  bool exclusive = false;
  {
    const holdfast::embedded_server server;
    const holdfast::client redis{server.url()};
    directory = server.directory();
    const auto held = redis.mutex("a").acquire();
    exclusive = !redis.mutex("a").try_acquire();
  }
  const bool clean = !std::filesystem::exists(directory);
  std::cout << (exclusive ? "exclusive" : "shared?") << ", "
            << (clean ? "nothing left behind" : "something left behind") << '\n';
  return exclusive && clean ? 0 : 1;
}
