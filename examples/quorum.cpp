// A leader among three servers, one of which dies: nobody notices.
#include <chrono>
#include <iostream>
#include <memory>

#include <holdfast/holdfast.hpp>

using namespace std::chrono_literals;

int main() {
  // Private servers stand for three that are independent of each other.
  const holdfast::client first{"embedded:"}, second{"embedded:"};
  auto dying = std::make_unique<holdfast::embedded_server>();
  const holdfast::client third{dying->url()};
  // [snippet quorum]
  const holdfast::quorum nodes{{first, second, third}};  // three independent servers
  auto lease = nodes.mutex("leader", {.lease = 10s}).acquire();
  // [snippet end]
  const auto before = lease.token();
  dying.reset();
  lease.release().value();
  lease = nodes.mutex("leader", {.lease = 10s}).acquire();
  std::cout << (lease.held() && lease.token() > before ? "elected again, without one server\n"
                                                       : "no leader\n");
  return lease.held() ? 0 : 1;
}
