#include "cli/dialect_choice.hpp"

#include <map>
#include <string>

namespace holdfast::cli {

CLI::Option* add_dialect(CLI::App& command, dialect& how) {
  static const std::map<std::string, dialect> all = {
      {"holdfast", dialect{}},
      {"redisson", dialect::redisson()},
      {"go_zero", dialect::go_zero()},
      {"redis_py", dialect::redis_py()},
      {"reentrant_thread_local", dialect::reentrant_thread_local()},
  };
  return command
      .add_option_function<std::string>(
          "--dialect", [&how](const std::string& name) { how = all.at(name); },
          "Of whose locks: holdfast, redisson, go_zero, redis_py or reentrant_thread_local")
      ->check(
          CLI::IsMember({"holdfast", "redisson", "go_zero", "redis_py", "reentrant_thread_local"}))
      ->type_name("LIBRARY")
      ->default_str("holdfast");
}

}  // namespace holdfast::cli
