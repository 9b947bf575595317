#include "cli/quorum_choice.hpp"

#include "cli/duration.hpp"

namespace holdfast::cli {

std::vector<client> quorum_choice::connect(const connection_options& how) const {
  std::vector<client> all;
  for (const auto& url : members) {
    refuse_password_in("--member", url);
    all.push_back(how.connect_to(url));
  }
  return all;
}

CLI::Option* add_members(CLI::App& command, quorum_choice& choice) {
  return command
      .add_option("--member", choice.members,
                  "A server of a quorum, once for each: independent servers that vote on a lock, "
                  "instead of --url")
      ->type_name("URL")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_longest_lease(CLI::App& command, CLI::Option* members, quorum_choice& choice) {
  using namespace std::chrono_literals;
  add_duration(
      command, "--longest-lease", choice.longest_lease,
      "The longest lease that anybody takes of the quorum, the same for all its users: for "
      "so long a member that has lost its memory gives no vote",
      {10ms, 24h})
      ->needs(members);
}

}  // namespace holdfast::cli
