// Measures Holdfast against the limits of the machine it runs on. See README.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/version.hpp>

#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

struct question {
  std::string_view name;
  void (*answer)(const setting&);
};

constexpr std::array questions{
    question{"uncontended", uncontended},
    question{"threads64", threads64},
    question{"peers", peers},
    question{"coroutines", coroutines},
    question{"thread_scaling", thread_scaling},
    question{"renewal_load", renewal_load},
    question{"allocations", allocations},
    question{"contention", contention},
    question{"waiters200", waiters200},
    question{"retained", retained},
    question{"dead_waiters", dead_waiters},
    question{"listing", listing},
    question{"kinds", kinds},
    question{"all_of8", all_of8},
    question{"tls_pair", tls_pair},
    question{"audited_pair", audited_pair},
    question{"quorum5", quorum5},
    question{"cluster_pair", cluster_pair},
    question{"cluster_handover", cluster_handover},
    question{"cluster_locks", cluster_locks},
    question{"failover", failover},
};

struct arguments {
  std::string command;  // all of them
  bool quick = false;
  std::string json;
  std::string svg;
  std::vector<std::string_view> names;  // none: all
};

arguments read_arguments(std::span<char* const> words) {
  arguments given;
  given.command = "bench";
  for (const char* const word : words) given.command.append(" ").append(word);
  for (auto word = words.begin(); word != words.end(); ++word) {
    const std::string_view text = *word;
    const auto value = [&] {
      if (++word == words.end()) throw std::invalid_argument(std::string(text) + " needs a value");
      return std::string(*word);
    };
    if (text == "--quick") {
      given.quick = true;
    } else if (text == "--json") {
      given.json = value();
    } else if (text == "--svg") {
      given.svg = value();
    } else if (text == "--server") {
      measure_on(value());
    } else if (std::ranges::find(questions, text, &question::name) != questions.end()) {
      given.names.push_back(text);
    } else {
      std::string all;
      for (const auto& one : questions) all.append(" ").append(one.name);
      throw std::invalid_argument(
          "unknown: " + std::string(text) +
          "; [--quick] [--json FILE] [--svg FILE] [--server PROGRAM] and any of" + all);
    }
  }
  return given;
}

run_facts facts_of(const arguments& given, const server& redis) {
  const char* const revision = std::getenv("HOLDFAST_BENCH_REVISION");
  return {.command = given.command,
          .revision = revision != nullptr ? revision : version,
          .server = version_of(redis.port()),
          .cores = std::thread::hardware_concurrency()};
}

int run(const arguments& given) {
  const server redis;
  report results(facts_of(given, redis));
  for (const auto& one : questions) {
    const auto& names = given.names;
    if (!names.empty() && std::ranges::find(names, one.name) == names.end()) continue;
    load_scripts(redis.port());
    one.answer({redis, results, given.quick});
  }
  if (!given.json.empty()) results.write_json(given.json);
  if (!given.svg.empty()) results.write_svg(given.svg);
  return results.all_hold() ? 0 : 1;
}

}  // namespace
}  // namespace holdfast::bench

int main(int count, char** words) {
  try {
    return holdfast::bench::run(
        holdfast::bench::read_arguments({words + 1, static_cast<std::size_t>(count - 1)}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 2;
  }
}
