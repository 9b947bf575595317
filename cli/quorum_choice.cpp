#include "cli/quorum_choice.hpp"

#include "cli/complaint.hpp"
#include "cli/duration.hpp"
#include "cli/members_file.hpp"

namespace holdfast::cli {

std::vector<client> quorum_choice::connect(const connection_options& how) const {
  if (how.failover.quarantine.count() > 0) {
    throw complaint{bad_configuration, "unsupported",
                    "--quarantine has no effect on the votes of a quorum: leave it out"};
  }
  if (members_file) return connect_to_listed(*members_file, how);
  std::vector<client> all;
  for (const auto& url : members) {
    refuse_password_in("--member", url, "--members-file, HOLDFAST_PASSWORD or --password-file");
    all.push_back(how.connect_to(url));
  }
  return all;
}

void add_members(CLI::App& command, quorum_choice& choice) {
  auto* const one =
      command
          .add_option("--member", choice.members,
                      "A server of a quorum, instead of --url; give it once for each of the "
                      "independent servers that vote on a lock")
          ->type_name("URL")
          ->expected(1)
          ->allow_extra_args(false)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--members-file", choice.members_file,
                  "A file with the URL of each member in a line of its own; the URLs may contain "
                  "passwords")
      ->type_name("FILE")
      ->excludes(one);
}

void add_longest_lease(CLI::App& command, quorum_choice& choice) {
  using namespace std::chrono_literals;
  add_duration(
      command, "--longest-lease", choice.longest_lease,
      "The longest lease that any client takes of the quorum, the same for all its users: a "
      "member that has lost its memory gives no vote for so long",
      {10ms, 24h})
      ->each([&choice](const std::string&) { choice.longest_lease_given = true; });
}

void check_longest_lease(const quorum_choice& choice) {
  if (choice.given() || !choice.longest_lease_given) return;
  throw CLI::ValidationError("--longest-lease",
                             "needs a quorum: name its members by --member or --members-file");
}

}  // namespace holdfast::cli
