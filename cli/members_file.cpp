#include "cli/members_file.hpp"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

#include <holdfast/errc.hpp>

#include "cli/complaint.hpp"
#include "cli/text_file.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view line) {
  const auto begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(blanks) + 1 - begin);
}

client connect_as_it_says(std::string_view url, connection_options how) {
  if (url.find_first_of(blanks) != std::string_view::npos) {
    throw failure{errc::invalid_url,
                  "it contains a blank; write one URL and nothing behind it (a blank in a "
                  "password is %20)"};
  }
  if (has_password(url)) how.forget_login();
  return how.connect_to(std::string(url));
}

}  // namespace

std::vector<client> connect_to_listed(const std::string& path, const connection_options& how) {
  std::istringstream lines(read_text(path, "members_file", "members file", extent::all));
  std::vector<client> all;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto url = trimmed(line);
    if (url.empty() || url.starts_with('#')) continue;
    if (has_password(url)) refuse_if_readable_by_all(path, "members_file", "members file");
    try {
      all.push_back(connect_as_it_says(url, how));
    } catch (const failure& why) {
      throw complaint{
          exit_code_for(why.reason()), name_of(why.reason()),
          fmt::format("line {} of the members file '{}': {}", number, path, why.what())};
    }
  }
  if (!all.empty()) return all;
  throw complaint{
      bad_configuration, "members_file",
      fmt::format("the members file '{}' names no member: it needs a line with the URL of each",
                  path)};
}

}  // namespace holdfast::cli
