// holdfast_faults [--seconds N] [--seed S] [--keep DIRECTORY] [NAME...]
//
// Real processes on real servers under one kind of fault after another; see docs/evidence.md. N
// seconds are divided among the runs: every fault named (all when none is) on every server that is
// installed. One line a run. The history of a failed one stays in DIRECTORY.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "faults/runs/run.hpp"
#include "support/each_server.hpp"

namespace holdfast::faults {
namespace {

// For the control: several processes have been stopped by then.
constexpr milliseconds enough_to_fail{6000};

struct options {
  double seconds = 60;
  std::uint64_t seed = std::random_device()();
  std::filesystem::path keep = std::filesystem::temp_directory_path() / "holdfast-faults";
  std::vector<const fault*> chosen;
};

const fault& named(const std::string& name) {
  for (const auto& one : faults()) {
    if (one.name == name) return one;
  }
  std::string all;
  for (const auto& one : faults()) all += " " + one.name;
  throw std::invalid_argument("no fault is called " + name + "; there are:" + all);
}

options read_options(const std::vector<std::string>& arguments) {
  options read;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto value = [&] { return arguments.at(++i); };
    if (arguments[i] == "--seconds") {
      read.seconds = std::stod(value());
    } else if (arguments[i] == "--seed") {
      read.seed = std::stoull(value());
    } else if (arguments[i] == "--keep") {
      read.keep = value();
    } else {
      read.chosen.push_back(&named(arguments[i]));
    }
  }
  if (read.chosen.empty()) {
    for (const auto& one : faults()) read.chosen.push_back(&one);
  }
  return read;
}

// One line; the history is kept when something is wrong.
bool report(const plan& what, const findings& found) {
  std::printf(
      "%-26s %-13s %6zu acquisitions %5zu changes %5zu losses %5zu refused %4zu strikes "
      "%3zu violations\n",
      what.what.name.c_str(), what.server.c_str(), found.acquisitions, found.changes, found.losses,
      found.refused_writes, found.strikes, found.count);
  if (found.count == 0) {
    std::filesystem::remove_all(what.directory);
    return true;
  }
  std::ofstream(what.directory + "/violations") << found.violations;
  std::printf("%.*s  seed %llu; history and violations: %s\n",
              int(std::min<std::size_t>(found.violations.size(), 4000)), found.violations.c_str(),
              static_cast<unsigned long long>(what.seed), what.directory.c_str());
  return false;
}

int run_all(const options& how) {
  const auto servers = support::server_programs();
  if (servers.empty()) throw std::runtime_error("no server is installed");
  const auto runs = double(how.chosen.size() * servers.size());
  const milliseconds each(std::max<std::int64_t>(1000, std::int64_t(1000 * how.seconds / runs)));
  int failed = 0;
  for (const auto* fault : how.chosen) {
    for (const auto& server : servers) {
      const auto directory = how.keep / (fault->name + "-" + server);
      std::filesystem::remove_all(directory);
      std::filesystem::create_directories(directory);
      const bool control = fault->expected == expectation::lost_writes;
      const auto time = control ? std::max(each, enough_to_fail) : each;
      const plan what{*fault, server, directory, time, how.seed};
      failed += report(what, run(what)) ? 0 : 1;
      std::fflush(stdout);
    }
  }
  std::printf("%d of %.0f runs failed\n", failed, runs);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::faults

int main(int count, char** words) try {
  using namespace holdfast::faults;
  const std::vector<std::string> arguments(words + 1, words + count);
  if (!arguments.empty() && arguments[0] == "worker") {
    work(assignment::from_arguments(arguments));
    return 0;
  }
  return run_all(read_options(arguments));
} catch (const std::exception& wrong) {
  std::cerr << "holdfast_faults: " << wrong.what() << "\n";
  return 2;
}
