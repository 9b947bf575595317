#include "cli/quorum_choice.hpp"

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

}  // namespace holdfast::cli
