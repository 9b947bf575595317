// A lock of five servers: how much more than one server's does a pair cost?
#include <memory>
#include <vector>

#include <holdfast/embedded_server.hpp>
#include <holdfast/quorum.hpp>

#include "support/measure.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {

void quorum5(const setting& with) {
  std::vector<std::unique_ptr<embedded_server>> servers;
  std::vector<client> members;
  for (int i = 0; i < 5; ++i) {
    servers.push_back(
        std::make_unique<embedded_server>(embedded_options{.program = measured_program()}));
    members.emplace_back(servers.back()->url());
  }
  const lock one = members.front().mutex("bench");
  const lock five = quorum{members}.mutex("bench");
  const auto pairs = [&](const lock& target) {
    return [&, length = with.turn()] {
      return run_slice(1, length, [&](int) { target.acquire().release().value(); });
    };
  };
  const auto figures = run_by_turns(with.redis, with.turns(), {pairs(one), pairs(five)});
  with.results.at_most("quorum5.processor_vs_one_server",
                       figures[1].processor / figures[0].processor, "x", 5.5);
  with.results.tell("quorum5.p50_vs_one_server", figures[1].p50 / figures[0].p50, "x");
  with.results.tell("quorum5.p50", figures[1].p50, "us");
}

}  // namespace holdfast::bench
