// A simulated server and a real one, whose clocks stand still at the same time: a command to both
// has the same answer, to the microsecond.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "redis/resp/writer.hpp"
#include "simulation/seeds.hpp"
#include "simulation/server/simulated_server.hpp"
#include "support/clock_shim.hpp"
#include "support/each_server.hpp"
#include "support/raw_connection.hpp"

namespace holdfast::simulation {

inline std::string bytes_of(const std::vector<std::string>& command) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(command.size());
  for (const auto& word : command) out.arg(std::string_view{word});
  return bytes;
}

class two_servers : public support::server_test {
 protected:
  void SetUp() override {
    server_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    real_ = std::make_unique<support::private_server>(start({.environment = clock_.environment()}));
    us_there_ = connect();
    listener_there_ = connect();
    clock_.stop_at(simulated_.now());
    simulated_.set_page(128);
  }

  // The answer, which must be that of the real one.
  resp::value both(std::string_view bytes) {
    auto ours = comparable(simulated_.execute(us_, bytes));
    us_there_->send(bytes);
    const auto theirs = comparable(us_there_->read_value());
    EXPECT_EQ(resp::to_string(ours), resp::to_string(theirs)) << bytes;
    return ours;
  }

  // From now on somebody listens to this channel, at either.
  void listen(const std::string& channel) {
    const auto bytes = bytes_of({"SUBSCRIBE", channel});
    simulated_.execute(listener_, bytes);
    listener_there_->send(bytes);
    listener_there_->read_value();
  }

  // The messages that the client has heard since the last call, which must be the same at the real
  // server. That one is not asked each time when the client has heard nothing.
  std::vector<resp::value> heard() {
    auto ours = simulated_.take_pushes(listener_);
    if (ours.empty() && pick(10) != 0) return ours;
    std::vector<resp::value> theirs;
    listener_there_->send(bytes_of({"PING"}));
    for (auto next = listener_there_->read_value(); next.is(resp::type::push);
         next = listener_there_->read_value()) {
      theirs.push_back(std::move(next));
    }
    EXPECT_EQ(ours, theirs);
    return ours;
  }

  void pass(microseconds time) {
    simulated_.advance(time);
    clock_.stop_at(simulated_.now());
  }
  server_time now() const { return server_time{simulated_.now()}; }
  simulated_server& simulated() noexcept { return simulated_; }

  std::size_t pick(std::size_t below) { return random_() % below; }
  std::string pick(std::initializer_list<const char*> from) {
    return from.begin()[pick(from.size())];
  }

 private:
  // The wording of errors, behind their code, may differ.
  static resp::value comparable(resp::value v) {
    if (v.is(resp::type::error)) v.text.resize(std::min(v.text.size(), v.text.find(' ')));
    return v;
  }

  std::unique_ptr<support::raw_connection> connect() const {
    auto made = std::make_unique<support::raw_connection>(net::unix_endpoint{real_->socket()});
    made->command({"HELLO", "3"});
    return made;
  }

  support::clock_shim clock_;
  std::unique_ptr<support::private_server> real_;
  std::unique_ptr<support::raw_connection> us_there_, listener_there_;
  simulated_server simulated_;
  int us_ = simulated_.connect(), listener_ = simulated_.connect();
  // Others each time. HOLDFAST_SEED: those of a run that failed.
  const std::uint64_t seed_ = number_in("HOLDFAST_SEED", std::random_device{}());
  const testing::ScopedTrace told_{__FILE__, __LINE__, "HOLDFAST_SEED=" + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
};

}  // namespace holdfast::simulation
