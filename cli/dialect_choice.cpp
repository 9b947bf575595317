#include "cli/dialect_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/errc.hpp>

#include "cli/duration.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

// The words between commas.
std::vector<std::string> words_of(std::string list) {
  std::vector<std::string> words;
  std::istringstream rest(std::move(list));
  for (std::string word; std::getline(rest, word, ',');) words.push_back(std::move(word));
  return words;
}

using pause = std::optional<std::chrono::milliseconds>;

// `detail` is the text after the name and a colon; empty: there is none. `retry` is only given to
// those that take one.
struct choice {
  std::string_view name;
  dialect (*make)(std::string detail, pause retry);
  bool takes_detail = false;
  bool takes_retry = false;
};

// Of layouts that have an interval of their own.
template <typename Layout>
Layout with_retry(Layout layout, pause retry) {
  if (retry) layout.retry_interval = *retry;
  return layout;
}

// "PREFIX,SUFFIX"
dialect make_token(std::string detail, pause retry) {
  const auto comma = std::min(detail.find(','), detail.size());
  const auto suffix = comma == detail.size() ? std::string{} : detail.substr(comma + 1);
  detail.resize(comma);
  return dialect::token(
      with_retry(token_layout{.key_prefix = detail, .key_suffix = suffix}, retry));
}

dialect make_spring(std::string key, pause retry, registry_mode mode) {
  spring_registry registry{.registry_key = key, .mode = mode};
  if (retry) registry.idle_between_tries = *retry;
  return dialect::spring_integration(registry);
}

dialect make_redlock_node(std::string further, pause retry) {
  const auto more = words_of(std::move(further));
  redlock_layout layout{.library = redlock_library::node_redlock, .further_resources = more};
  return dialect::redlock(with_retry(layout, retry));
}

dialect make_shedlock(std::string environment, pause retry) {
  shedlock_provider provider;
  if (!environment.empty()) provider.environment = environment;
  return dialect::shedlock(with_retry(provider, retry));
}

dialect make_symfony(std::string prefix, pause retry) {
  return dialect::symfony(with_retry(symfony_store{.key_prefix = prefix}, retry));
}

// "LOCK_TIMEOUT"
dialect make_redis_semaphore(std::string timeout, pause retry) {
  redis_semaphore_layout layout;
  if (!timeout.empty()) {
    const auto said = parse_duration(timeout);
    if (!said) {
      throw CLI::ValidationError(
          "--dialect", "expected the lockTimeout of redis-semaphore, a duration such as 10s");
    }
    layout.lock_timeout = *said;
  }
  return dialect::redis_semaphore(with_retry(layout, retry));
}

constexpr std::array choices = {
    choice{"holdfast", [](std::string, pause) { return dialect{}; }},
    choice{"redisson", [](std::string, pause) { return dialect::redisson(); }},
    choice{"redisson_spin",
           [](std::string, pause) { return dialect::redisson(redisson_lock::spin); }},
    choice{"redisson_fenced",
           [](std::string, pause) { return dialect::redisson(redisson_lock::fenced); }},
    choice{"redisson_expirable",
           [](std::string, pause) { return dialect::redisson(redisson_lock::expirable); }},
    choice{"go_zero", [](std::string, pause) { return dialect::go_zero(); }},
    choice{"redis_py",
           [](std::string, pause retry) {
             return retry ? dialect::token({.retry_interval = *retry}) : dialect::redis_py();
           },
           false, true},
    choice{"token", make_token, true, true},
    choice{"python_redis_lock", [](std::string, pause) { return dialect::python_redis_lock(); }},
    choice{"reentrant_thread_local",
           [](std::string, pause) { return dialect::reentrant_thread_local(); }},
    choice{"redlock",
           [](std::string, pause retry) {
             return dialect::redlock(with_retry(redlock_layout{}, retry));
           },
           false, true},
    choice{"redlock_node", make_redlock_node, true, true},
    choice{"rueidislock",
           [](std::string prefix, pause) {
             if (prefix.empty()) return dialect::rueidislock();
             return dialect::rueidislock({.key_prefix = prefix});
           },
           true},
    choice{"shedlock", make_shedlock, true, true},
    choice{"symfony", make_symfony, true, true},
    choice{"redis_semaphore", make_redis_semaphore, true, true},
    choice{"spring_integration",
           [](std::string key, pause retry) {
             return make_spring(std::move(key), retry, registry_mode::spin);
           },
           true, true},
    choice{"spring_integration_pub_sub",
           [](std::string key, pause retry) {
             return make_spring(std::move(key), retry, registry_mode::pub_sub);
           },
           true, true},
};

// Both options together.
struct said {
  std::string word = "holdfast";
  pause retry{};
};

dialect parse(const said& what) {
  const std::string_view word = what.word;
  const auto name = word.substr(0, word.find(':'));
  const bool has_detail = name.size() < word.size();
  for (const auto& one : choices) {
    if (one.name != name || (has_detail && !one.takes_detail)) continue;
    if (what.retry && !one.takes_retry) {
      throw CLI::ValidationError("--retry-interval",
                                 "does not go with " + std::string(name) +
                                     ": its release notifies waiters, or its interval is fixed");
    }
    return one.make(std::string(has_detail ? word.substr(name.size() + 1) : ""), what.retry);
  }
  throw CLI::ValidationError("--dialect", "there is none called " + std::string(word));
}

dialect make(const said& what) {
  try {
    return parse(what);
  } catch (const failure& wrong) {
    throw CLI::ValidationError("--dialect", wrong.what());
  }
}

}  // namespace

namespace {

CLI::Option* add_dialect(CLI::App& command, dialect& how, const std::shared_ptr<said>& both) {
  return command
      .add_option_function<std::string>(
          "--dialect",
          [both, &how](const std::string& word) {
            both->word = word;
            how = make({.word = word});
          },
          "The library that writes the locks: holdfast, redisson, redisson_spin, redisson_fenced, "
          "redisson_expirable, "
          "go_zero, redis_py, token[:PREFIX[,SUFFIX]], python_redis_lock, "
          "reentrant_thread_local, redlock, redlock_node[:RESOURCE,...], "
          "rueidislock[:PREFIX], shedlock[:ENVIRONMENT], symfony[:PREFIX], "
          "redis_semaphore[:LOCK_TIMEOUT], "
          "spring_integration:REGISTRY or "
          "spring_integration_pub_sub:REGISTRY")
      ->type_name("LIBRARY")
      ->default_str("holdfast");
}

}  // namespace

CLI::Option* add_dialect(CLI::App& command, dialect& how) {
  return add_dialect(command, how, std::make_shared<said>());
}

// Whichever stands first on the command line, the dialect's function is called before the other's.
void add_dialect_to_wait_for(CLI::App& command, dialect& how) {
  const auto both = std::make_shared<said>();
  add_dialect(command, how, both);
  const std::string name = "--retry-interval";
  command
      .add_option_function<std::string>(
          name,
          [both, name, &how](const std::string& text) {
            both->retry = parse_duration(text);
            if (!both->retry) {
              throw CLI::ValidationError(name, "expected a duration such as 500ms, 10s, 2m or 1h");
            }
            how = make(*both);
          },
          "How long to wait, or up to twice as long, before asking again for a lock whose release "
          "notifies nobody [as its library does]")
      ->type_name("DURATION");
}

void tell_of_foreign(const inspector& look, const std::string& name, const context& shared) {
  for (const auto& found : look.find_foreign(name)) {
    const auto what =
        found.detail.empty() ? "a lock of the dialect " + found.dialect : found.detail;
    note(shared, "foreign",
         fmt::format("another library seems to have a lock there: {}, held by {}; ask for it by "
                     "--dialect {} {}",
                     what, show_owner(found), found.dialect, found.name));
  }
}

}  // namespace holdfast::cli
