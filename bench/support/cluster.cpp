#include "support/cluster.hpp"

#include <stdexcept>

#include "net/clock.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"

namespace holdfast::bench {
namespace {

constexpr std::size_t slots = 16'384;

std::string asked_of(const server& node, std::initializer_list<std::string_view> words) {
  raw_client socket(node.port(), microseconds{0});
  const auto& answer = socket.ask(words);
  if (answer.is(resp::type::error)) throw std::runtime_error("cluster: " + answer.text);
  return answer.text;
}

bool is_ready(const server& node, std::size_t masters) {
  const auto said = asked_of(node, {"CLUSTER", "INFO"});
  return said.find("cluster_state:ok") != said.npos &&
         said.find("cluster_size:" + std::to_string(masters) + "\r") != said.npos;
}

}  // namespace

cluster::cluster(std::size_t masters) {
  std::vector<std::string> bus_ports;
  for (std::size_t i = 0; i < masters; ++i) {
    bus_ports.push_back(std::to_string(free_port()));
    masters_.emplace_back(std::nullopt, std::vector<std::string>{"--cluster-enabled", "yes",
                                                                 "--cluster-port", bus_ports[i]});
    asked_of(masters_[i], {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    asked_of(masters_[i], {"CLUSTER", "ADDSLOTSRANGE", std::to_string(slots * i / masters),
                           std::to_string(slots * (i + 1) / masters - 1)});
  }
  make_known(bus_ports);
  await();
}

void cluster::make_known(const std::vector<std::string>& bus_ports) const {
  for (std::size_t i = 1; i < masters_.size(); ++i) {
    asked_of(masters_[0],
             {"CLUSTER", "MEET", "127.0.0.1", std::to_string(masters_[i].port()), bus_ports[i]});
  }
}

void cluster::await() const {
  const auto until = net::now() + std::chrono::seconds(30);
  for (const auto& one : masters_) {
    while (!is_ready(one, masters_.size())) {
      if (net::now() > until) throw std::runtime_error("the cluster does not become ready");
      wait_for(std::chrono::milliseconds(20));
    }
  }
}

std::string cluster::url() const {
  std::string text = "redis+cluster://";
  for (const auto& one : masters_) {
    text += (&one == masters_.data() ? "127.0.0.1:" : ",127.0.0.1:") + std::to_string(one.port());
  }
  return text;
}

std::vector<std::uint16_t> cluster::ports() const {
  std::vector<std::uint16_t> all;
  for (const auto& one : masters_) all.push_back(one.port());
  return all;
}

void cluster::place(placement where) const {
  for (const auto& one : masters_) one.place(where);
}

std::chrono::nanoseconds cluster::processor_time() const {
  std::chrono::nanoseconds all{0};
  for (const auto& one : masters_) all += one.processor_time();
  return all;
}

double cluster::sum(const std::function<double(std::uint16_t)>& of) const {
  double all = 0;
  for (const auto& one : masters_) all += of(one.port());
  return all;
}

}  // namespace holdfast::bench
