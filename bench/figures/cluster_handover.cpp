// A lock that goes from client to client: what do its messages cost in a cluster, which sends each
// to all masters?
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/client.hpp>

#include "support/cluster.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr int clients = 4;

double copies_sent(std::uint16_t port) {
  const auto sent = line_of(port, {"CLUSTER", "INFO"}, "cluster_stats_messages_publish_sent");
  return sent.empty() ? 0 : std::stod(sent);
}

// Clients that pass a lock round; the cost to their servers is counted.
class round_trip {
 public:
  round_trip(const std::string& url, std::function<nanoseconds()> server_time)
      : server_time_(std::move(server_time)) {
    for (int i = 0; i < clients; ++i) locks_.push_back(client(url).mutex("bench", {.fair = true}));
  }

  // Each pair is a hand-over: the others wait.
  slice run(nanoseconds length) {
    const auto before = server_time_();
    const auto found = run_slice(clients, length, [&](int self) {
      locks_[static_cast<std::size_t>(self)].acquire().release().value();
    });
    served_ += server_time_() - before;
    pairs_ += found.pairs;
    return found;
  }

  double pairs() const { return pairs_; }
  double server_processor() const { return static_cast<double>(served_.count()) / 1000 / pairs_; }

 private:
  std::vector<lock> locks_;
  std::function<nanoseconds()> server_time_;
  nanoseconds served_{0};
  double pairs_ = 0;
};

}  // namespace

void cluster_handover(const setting& with) {
  const cluster three(3), six(6);
  const auto of = [](const auto& servers) { return [&] { return servers.processor_time(); }; };
  round_trip at_one(with.redis.url(), of(with.redis)), at_three(three.url(), of(three)),
      at_six(six.url(), of(six));
  const auto running = [&](round_trip& one) {
    return [&, length = with.slice()] { return one.run(length); };
  };
  const auto figures = run_by_turns(with.redis, with.rounds(),
                                    {running(at_one), running(at_three), running(at_six)});
  auto& results = with.results;
  const auto tell = [&](const std::string& where, const slice& found, const round_trip& trip) {
    results.tell("cluster_handover." + where + ".rate", found.rate, "1/s");
    results.tell("cluster_handover." + where + ".processor_per_handover", found.processor, "us");
    results.tell("cluster_handover." + where + ".server_processor_per_handover",
                 trip.server_processor(), "us");
  };
  tell("one_server", figures[0], at_one);
  tell("3_masters", figures[1], at_three);
  tell("6_masters", figures[2], at_six);
  // Valkey 8 does not count them.
  if (three.sum(copies_sent) == 0) return;
  results.tell("cluster_handover.3_masters.copies", three.sum(copies_sent) / at_three.pairs(),
               "messages");
  results.tell("cluster_handover.6_masters.copies", six.sum(copies_sent) / at_six.pairs(),
               "messages");
}

}  // namespace holdfast::bench
