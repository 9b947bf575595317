#include "cli/dialect_choice.hpp"

#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/errc.hpp>

namespace holdfast::cli {
namespace {

// What commas separate.
std::vector<std::string> words_of(std::string list) {
  std::vector<std::string> words;
  std::istringstream rest(std::move(list));
  for (std::string word; std::getline(rest, word, ',');) words.push_back(std::move(word));
  return words;
}

// `detail` is what follows the name and a colon; empty: nothing does.
struct choice {
  std::string_view name;
  dialect (*make)(std::string detail);
  bool takes_detail = false;
};

constexpr std::array choices = {
    choice{"holdfast", [](std::string) { return dialect{}; }},
    choice{"redisson", [](std::string) { return dialect::redisson(); }},
    choice{"redisson_spin", [](std::string) { return dialect::redisson(redisson_lock::spin); }},
    choice{"redisson_fenced", [](std::string) { return dialect::redisson(redisson_lock::fenced); }},
    choice{"redisson_expirable",
           [](std::string) { return dialect::redisson(redisson_lock::expirable); }},
    choice{"go_zero", [](std::string) { return dialect::go_zero(); }},
    choice{"redis_py", [](std::string) { return dialect::redis_py(); }},
    choice{"python_redis_lock", [](std::string) { return dialect::python_redis_lock(); }},
    choice{"reentrant_thread_local", [](std::string) { return dialect::reentrant_thread_local(); }},
    choice{"redlock", [](std::string) { return dialect::redlock(); }},
    choice{"redlock_node",
           [](std::string further) {
             const auto more = words_of(std::move(further));
             return dialect::redlock(
                 {.library = redlock_library::node_redlock, .further_resources = more});
           },
           true},
    choice{"rueidislock",
           [](std::string prefix) {
             if (prefix.empty()) return dialect::rueidislock();
             return dialect::rueidislock({.key_prefix = prefix});
           },
           true},
    choice{"shedlock",
           [](std::string environment) {
             if (environment.empty()) return dialect::shedlock();
             return dialect::shedlock({.environment = environment});
           },
           true},
    choice{"spring_integration",
           [](std::string key) { return dialect::spring_integration({.registry_key = key}); },
           true},
    choice{"spring_integration_pub_sub",
           [](std::string key) {
             return dialect::spring_integration(
                 {.registry_key = key, .mode = registry_mode::pub_sub});
           },
           true},
};

dialect parse(std::string_view word) {
  const auto name = word.substr(0, word.find(':'));
  const bool has_detail = name.size() < word.size();
  for (const auto& one : choices) {
    if (one.name != name || (has_detail && !one.takes_detail)) continue;
    return one.make(std::string(has_detail ? word.substr(name.size() + 1) : ""));
  }
  throw CLI::ValidationError("--dialect", "there is none called " + std::string(word));
}

}  // namespace

CLI::Option* add_dialect(CLI::App& command, dialect& how) {
  return command
      .add_option_function<std::string>(
          "--dialect",
          [&how](const std::string& word) {
            try {
              how = parse(word);
            } catch (const failure& wrong) {
              throw CLI::ValidationError("--dialect", wrong.what());
            }
          },
          "Of whose locks: holdfast, redisson, redisson_spin, redisson_fenced, redisson_expirable, "
          "go_zero, "
          "redis_py, "
          "python_redis_lock, "
          "reentrant_thread_local, redlock, redlock_node[:RESOURCE,...], "
          "rueidislock[:PREFIX], shedlock[:ENVIRONMENT], "
          "spring_integration:REGISTRY or "
          "spring_integration_pub_sub:REGISTRY")
      ->type_name("LIBRARY")
      ->default_str("holdfast");
}

}  // namespace holdfast::cli
