// The same small program for every way to add Holdfast to a project.
#include <iostream>

#include <holdfast/holdfast.hpp>

int main() {
  const holdfast::embedded_server server;
  const holdfast::client redis{server.url()};
  const auto lease = redis.mutex("installed").acquire();
  std::cout << holdfast::version << '\n';
  return lease.held() && lease.token() ? 0 : 1;
}
