// The same small program for every way to add Holdfast to a project.
#include <iostream>

#include <holdfast/holdfast.hpp>

// Of a URL it says why a client cannot be made from it.
int main(int argc, char** argv) {
  if (argc > 1) {
    try {
      const holdfast::client refused{argv[1]};
      return 1;
    } catch (const holdfast::failure& why) {
      std::cout << why.what() << '\n';
      return 0;
    }
  }
  const holdfast::embedded_server server;
  const holdfast::client redis{server.url()};
  const auto lease = redis.mutex("installed").acquire();
  std::cout << holdfast::version << '\n';
  return lease.held() && lease.token() ? 0 : 1;
}
