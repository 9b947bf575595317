// holdfast_soak [--seconds N]
//
// One process with many threads and clients at a service that fails over, freezes and cuts
// connections, for N seconds (120) on each server that is installed, one after the other. Exit code
// 1: somebody was beside a holder, a lease was lost, a call took too long, a lock was left behind,
// or memory, descriptors or threads grew.
#include <cstdio>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "net/clock.hpp"
#include "soak/deployment.hpp"
#include "soak/footprint.hpp"
#include "soak/work.hpp"
#include "support/each_server.hpp"
#include "support/eventually.hpp"

namespace holdfast::soak {
namespace {

// A call's own time-out, the time for an answer, and what a loaded machine adds.
constexpr std::int64_t longest_call_ms = 15'000;

std::string judge(const tally& all, milliseconds length) {
  std::string wrong;
  const auto complain = [&](const std::string& what) { wrong += what + "\n"; };
  if (all.intruders > 0) complain(std::to_string(all.intruders) + " were beside a holder");
  if (all.lost > 0) complain(std::to_string(all.lost) + " leases were lost");
  if (all.longest_ms > longest_call_ms) {
    complain("a call took " + std::to_string(all.longest_ms) + " ms");
  }
  const auto least = static_cast<std::uint64_t>(length.count() / 100);
  if (all.acquired < least) complain("only " + std::to_string(all.acquired) + " acquisitions");
  return wrong;
}

void print(const std::string& program, const tally& all, const std::map<std::string, int>& strikes,
           const footprint& last) {
  std::printf(
      "%s: %llu acquisitions, %llu failed, %llu threads cancelled, %llu clients, longest call "
      "%lld ms; %zu KiB of heap, %zu MiB of memory, %zu descriptors, %zu threads\n ",
      program.c_str(), static_cast<unsigned long long>(all.acquired),
      static_cast<unsigned long long>(all.failed), static_cast<unsigned long long>(all.cancelled),
      static_cast<unsigned long long>(all.clients), static_cast<long long>(all.longest_ms),
      last.heap / 1024, last.resident / 1024 / 1024, last.descriptors, last.threads);
  for (const auto& [what, often] : strikes) std::printf(" %s %d;", what.c_str(), often);
  std::printf("\n");
}

// The traces of clients that have ended.
std::string remains(const footprint& before) {
  const auto has_gone = [&] {
    const auto now = measure();
    return now.descriptors <= before.descriptors && now.threads <= before.threads;
  };
  if (support::eventually(has_gone)) return {};
  const auto now = measure();
  return "from " + std::to_string(before.descriptors) + " to " + std::to_string(now.descriptors) +
         " descriptors, from " + std::to_string(before.threads) + " to " +
         std::to_string(now.threads) + " threads\n";
}

// The problem; empty: none.
std::string soak(const std::string& program, milliseconds length) {
  deployment service(program);
  const auto before = measure();
  crew at_work(service.url());
  std::mt19937 dice(1);
  std::map<std::string, int> strikes;
  std::vector<footprint> samples;
  for (const auto end = net::now() + length; net::now() < end;) {
    ++strikes[service.strike(dice())];
    samples.push_back(measure());
  }
  at_work.stop();
  auto wrong = judge(at_work.so_far(), length) + growth(samples);
  if (const auto what = at_work.left_behind(); !what.empty()) {
    wrong += "a lock was left behind: " + what + "\n";
  }
  wrong += remains(before);
  print(program, at_work.so_far(), strikes, samples.back());
  return wrong;
}

int run(milliseconds length) {
  const auto programs = support::server_programs();
  if (programs.empty()) throw std::runtime_error("no server is installed");
  int status = 0;
  for (const auto& program : programs) {
    const auto wrong = soak(program, length / static_cast<int>(programs.size()));
    if (wrong.empty()) continue;
    std::printf("%s: wrong:\n%s", program.c_str(), wrong.c_str());
    status = 1;
  }
  return status;
}

}  // namespace
}  // namespace holdfast::soak

int main(int count, char** words) try {
  const std::vector<std::string> arguments(words + 1, words + count);
  double seconds = 120;
  if (arguments.size() == 2 && arguments[0] == "--seconds") {
    seconds = std::stod(arguments[1]);
  } else if (!arguments.empty()) {
    throw std::invalid_argument("usage: holdfast_soak [--seconds N]");
  }
  return holdfast::soak::run(holdfast::milliseconds(static_cast<std::int64_t>(1000 * seconds)));
} catch (const std::exception& wrong) {
  std::cerr << "holdfast_soak: " << wrong.what() << "\n";
  return 2;
}
