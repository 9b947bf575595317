// How long does a release take that must first pass over ten thousand waiters who are gone?
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <holdfast/client.hpp>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr int many = 10'000;

std::string to_command(const std::vector<std::string>& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return text;
}

// As they stand in the queue when their client was killed: to its channel nobody listens.
void queue_the_dead(raw_client& socket, const std::string& key, const std::string& now) {
  std::vector<std::string> queue{"ZADD", key + ":w"};
  std::vector<std::string> asked{"HSET", key + ":i"};
  for (int i = 0; i < many; ++i) {
    const auto number = std::to_string(i);
    const auto waiter = std::string(32 - number.size(), '0') + number + "-1:o1000:-0";
    queue.insert(queue.end(), {std::to_string(i), waiter});
    asked.insert(asked.end(), {waiter, now});
  }
  socket.command(to_command(queue));
  socket.command(to_command(asked));
}

}  // namespace

void dead_waiters(const setting& with) {
  const client redis(with.redis.url());
  const auto target = redis.mutex("dead");
  raw_client socket(with.redis.port(), microseconds{0});
  std::vector<double> took;
  for (int round = 0; round < (with.quick ? 3 : 10); ++round) {
    auto held = target.acquire();
    const auto& time = socket.command(to_command({"TIME"})).items;
    queue_the_dead(socket, "hf:{dead}", time[0].text + "000000");
    const auto before = net::now();
    held.release().value();
    took.push_back(std::chrono::duration<double, std::milli>(net::now() - before).count());
    const auto left = to_command({"EXISTS", "hf:{dead}", "hf:{dead}:w", "hf:{dead}:i"});
    if (socket.command(left).number != 0) throw std::runtime_error("the dead are still there");
  }
  with.results.at_most("dead_waiters.release", median(std::move(took)), "ms", 50);
}

}  // namespace holdfast::bench
