// Two candidates; the second leads when the first resigns, and somebody looks on.
#include <future>
#include <iostream>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "server_url.hpp"

int main(int argc, char** argv) {
  const holdfast::client redis{server_url(argc, argv)};
  const auto scheduler = redis.election("scheduler");
  auto first = scheduler.campaign();
  // [snippet observe]
  std::promise<void> changed;
  const auto watching = scheduler.observe([&, old = first.token()](const auto& leader) {
    if (leader && leader->token > old) changed.set_value();
  });
  // [snippet end]
  // [snippet campaign]
  std::jthread second{[&] {
    const auto leads = scheduler.campaign();
    const auto stop = leads.lost();
    // work, with leads.token(), until stop.stop_requested()
    changed.get_future().wait();
  }};
  // [snippet end]
  first.release().value();  // resigns
  second.join();
  std::cout << "a new leader, and now " << (scheduler.leader() ? "one" : "none") << '\n';
}
