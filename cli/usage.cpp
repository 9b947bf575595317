#include "cli/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>

#include <holdfast/version.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

// Levenshtein: how many letters must change to make one word the other.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] != to[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string suggestion(const CLI::App& program, const std::string& word) {
  const auto commands = program.get_subcommands([](const CLI::App*) { return true; });
  const auto nearest = std::ranges::min_element(
      commands, {}, [&](const CLI::App* command) { return distance(word, command->get_name()); });
  // With more than half of it wrong, it is another word.
  if (nearest == commands.end() || distance(word, (*nearest)->get_name()) * 2 >= word.size()) {
    return {};
  }
  return fmt::format("; did you mean '{}'?", (*nearest)->get_name());
}

// A user who puts a password into a wrong argument has made one mistake; printing it would be
// another.
std::string without_passwords(std::string text) {
  for (auto scheme = text.find("://"); scheme != std::string::npos;
       scheme = text.find("://", scheme + 3)) {
    const auto login = scheme + 3;
    const auto end = std::min(text.find_first_of(" \n", login), text.size());
    const auto at = text.substr(0, end).rfind('@');
    if (at != std::string::npos && at > login) text.replace(login, at - login, "...");
  }
  return text;
}

class help_formatter : public CLI::Formatter {
 public:
  std::string make_footer(const CLI::App* app) const override {
    return common_options(app->get_parent()) + CLI::Formatter::make_footer(app);
  }

 private:
  std::string common_options(const CLI::App* program) const {
    if (program == nullptr) return {};
    const auto is_common = [&](const CLI::Option* one) {
      return one->nonpositional() && one != program->get_help_ptr() &&
             one->get_name() != "--version";
    };
    auto text = make_group("Options of every command", false, program->get_options(is_common));
    return text.erase(0, 1) + "\n";  // an empty line stands there already
  }
};

bool runs_a_command(const CLI::App& chosen) {
  return chosen.get_name() == "run" || chosen.get_name() == "elect";
}

// Words too many. A forgotten "--" is likelier than anything else where no command follows one.
std::string about_extras(const CLI::App& chosen, const std::vector<std::string>& words,
                         bool has_command) {
  const auto text = fmt::format("{}", fmt::join(words, " "));
  if (!runs_a_command(chosen) || has_command) return fmt::format("not expected: {}", text);
  const bool is_of_a_shell = words.front().starts_with('-') || words.front().find(' ') != text.npos;
  return fmt::format("the command stands after --: holdfast {} NAME -- {}", chosen.get_name(),
                     !is_of_a_shell ? text : fmt::format("sh -c '{}'", words.back()));
}

std::string explanation(const CLI::App& program, const context& shared,
                        const CLI::ParseError& error) {
  const auto unknown = program.remaining(true);
  const auto chosen = program.get_subcommands();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !chosen.empty() &&
      !unknown.empty()) {
    return about_extras(*chosen.front(), unknown, !shared.operands.empty());
  }
  if (!chosen.empty() || unknown.empty() || unknown.front().starts_with('-')) {
    return error.what();
  }
  return fmt::format("unknown command '{}'{}", unknown.front(),
                     suggestion(program, unknown.front()));
}

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  return std::make_shared<help_formatter>();
}

int report_usage(const CLI::App& program, const context& shared, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    const bool wants_version = dynamic_cast<const CLI::CallForVersion*>(&error) != nullptr;
    if (shared.json && wants_version) {
      print_json({{"version", version}});
    } else {
      program.exit(error);
    }
    return success;
  }
  const auto chosen = program.get_subcommands();
  const auto help = chosen.empty() ? "holdfast --help"
                                   : fmt::format("holdfast {} --help", chosen.front()->get_name());
  report_error(
      shared.json, "usage",
      without_passwords(fmt::format("{} (see {})", explanation(program, shared, error), help)));
  return usage;
}

// holdfast help [COMMAND]: prints the same as --help, as many other programs do.
void add_help(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("help", "Print the help of a command");
  command->group("");  // --help is listed
  const auto about = std::make_shared<std::string>();
  command->add_option("COMMAND", *about, "A command")->type_name("");
  command->callback([about, &program, &shared] {
    const auto named = [&](const CLI::App* one) { return one->get_name() == *about; };
    const auto asked = program.get_subcommands(named);
    if (asked.empty() && !about->empty()) {
      throw CLI::ValidationError("help", "there is no command '" + *about + "'");
    }
    // That of the program without the command that is chosen, which is this one.
    const auto& one = asked.empty() ? program : *asked.front();
    const auto name = program.get_name() + (asked.empty() ? "" : " " + *about);
    const auto text = one.get_formatter()->make_help(&one, name, CLI::AppFormatMode::Normal);
    shared.action = [text] { return print(text), success; };
  });
}

}  // namespace holdfast::cli
