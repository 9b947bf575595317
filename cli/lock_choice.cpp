#include "cli/lock_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include <holdfast/all_of.hpp>
#include <holdfast/quorum.hpp>

#include "cli/complaint.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/duration.hpp"
#include "cli/names.hpp"
#include "cli/permits.hpp"

namespace holdfast::cli {
namespace {

using choice_kind = lock_choice::kind;

// "N/M". Without a slash nothing is left for M; nothing is zero, and so is refused.
void read_permits(const std::string& word, lock_choice& choice) {
  const auto slash = std::min(word.find('/'), word.size() - 1);
  choice.wanted = parse_permits(std::string_view(word).substr(0, slash)).value_or(0);
  choice.permits = parse_permits(std::string_view(word).substr(slash + 1)).value_or(0);
  if (choice.wanted == 0 || choice.wanted > choice.permits) {
    throw CLI::ValidationError("--permits", "needs N/M, N of M permits: 1 <= N <= M <= 1,000,000");
  }
  choice.of = choice_kind::permits;
}

void read_list(const std::string& word, lock_choice& choice) {
  choice.of = choice_kind::all_of;
  for (std::size_t begin = 0; begin <= word.size();) {
    const auto end = std::min(word.find(',', begin), word.size());
    choice.names.push_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
}

// One word, byte for byte: CLI11 would take "[a,b]" for a list.
auto* add_word(CLI::App& command, const char* name, const char* type, const char* description,
               lock_choice& choice, void (*read)(const std::string&, lock_choice&)) {
  const auto take = [&choice, read](const CLI::results_t& words) {
    read(words.front(), choice);
    return true;
  };
  return command.add_option(name, CLI::callback_t(take), description)
      ->expected(1)
      ->allow_extra_args(false)
      ->type_name(type);
}

lock make_mutex(const std::vector<client>& servers, const lock_choice& choice,
                const std::string& name, std::chrono::milliseconds lease) {
  if (!choice.quorum.given()) return servers.front().mutex(name, {.lease = lease}, choice.how);
  quorum_options of_all{.longest_lease = choice.quorum.longest_lease};
  if (choice.how != dialect{}) {
    // Only Holdfast's own members must know the longest lease of others.
    of_all.longest_lease = std::max(of_all.longest_lease, lease);
  } else if (lease > of_all.longest_lease) {
    throw complaint{
        usage, "usage",
        fmt::format("--lease {} is more than --longest-lease, {}, which must be the same "
                    "for all who use the quorum",
                    show_duration(lease), show_duration(of_all.longest_lease))};
  }
  return quorum{servers, of_all}.mutex(name, {.lease = lease}, choice.how);
}

void check_quorum(const lock_choice& choice) {
  check_longest_lease(choice.quorum);
  if (!choice.quorum.given()) return;
  const auto refuse = [](const std::string& option, const std::string& why) {
    throw CLI::ValidationError(option, "not possible over a quorum: " + why);
  };
  switch (choice.of) {
    case choice_kind::mutex:
    case choice_kind::all_of:
      return;
    case choice_kind::fair:
      return refuse("--fair",
                    "each member would have a queue of its own, and their heads would split the "
                    "votes");
    case choice_kind::shared:
      return refuse("--shared", "a member votes for one holder, and readers are several");
    case choice_kind::exclusive:
      return refuse("--exclusive", "a member votes for one holder, and readers are several");
    case choice_kind::permits:
      return refuse("--permits", "of two permits three could each have a majority");
  }
}

}  // namespace

std::string lock_choice::label() const { return fmt::format("{}", fmt::join(names, ",")); }

void add_lock_choice(CLI::App& command, lock_choice& choice) {
  const auto flag = [&](const char* name, choice_kind of, const char* description) {
    return command.add_flag_callback(
        name, [&choice, of] { choice.of = of; }, description);
  };
  auto* const shared = flag("--shared", choice_kind::shared,
                            "As a reader of a read-write lock, beside other readers");
  auto* const exclusive =
      flag("--exclusive", choice_kind::exclusive, "As the writer of a read-write lock, alone");
  auto* const fair = flag("--fair", choice_kind::fair, "A mutex in strict order of arrival");
  auto* const permits = add_word(command, "--permits", "N/M", "N of the M permits of a semaphore",
                                 choice, read_permits);
  const std::vector<CLI::Option*> all = {
      shared,
      exclusive,
      fair,
      permits,
      add_word(command, "--all-of", "NAME,NAME,...", "All of these mutexes, instead of NAME",
               choice, read_list),
  };
  add_dialect_to_wait_for(command, choice.how);
  add_members(command, choice.quorum);
  add_longest_lease(command, choice.quorum);
  for (auto* one : all) {
    for (auto* other : all) {
      if (one != other) one->excludes(other);
    }
  }
}

void take_names(lock_choice& choice, const std::vector<std::string>& names) {
  check_quorum(choice);
  if (choice.of != choice_kind::all_of) {
    choice.names = all_names(names, {}, 1);
  } else if (!names.empty()) {
    throw CLI::ValidationError("--all-of", "names the locks already: leave NAME out");
  }
}

std::vector<client> connect_to_servers(const connection_options& how, const lock_choice& choice) {
  if (!choice.quorum.given()) return {how.connect()};
  return choice.quorum.connect(how);
}

lock make_lock(const std::vector<client>& servers, const lock_choice& choice,
               std::chrono::milliseconds lease) {
  const client& redis = servers.front();
  const auto& name = choice.names.front();
  switch (choice.of) {
    case choice_kind::mutex:
      break;
    case choice_kind::fair:
      return redis.mutex(name, {.lease = lease, .fair = true}, choice.how);
    case choice_kind::shared:
      return redis.read_write_lock(name, {.lease = lease}, choice.how).shared();
    case choice_kind::exclusive:
      return redis.read_write_lock(name, {.lease = lease}, choice.how).exclusive();
    case choice_kind::permits:
      return redis.semaphore(name, {.permits = choice.permits, .lease = lease}, choice.how)
          .permits(choice.wanted);
    case choice_kind::all_of: {
      std::vector<lock> parts;
      for (const auto& part : choice.names)
        parts.push_back(make_mutex(servers, choice, part, lease));
      return all_of(std::move(parts));
    }
  }
  return make_mutex(servers, choice, name, lease);
}

}  // namespace holdfast::cli
