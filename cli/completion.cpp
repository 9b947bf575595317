// holdfast completion SHELL: prints the completion script of a shell.
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "completion_scripts.hpp"

namespace holdfast::cli {

void add_completion(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("completion", "Print a shell's completion script");
  const auto shell = std::make_shared<std::string>();
  const std::map<std::string, const char*> scripts = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("");
  command->footer(
      "Examples:\n"
      "  source <(holdfast completion bash)\n"
      "  holdfast completion fish > ~/.config/fish/completions/holdfast.fish");
  command->callback([shell, scripts, &shared] {
    shared.action = [shell, script = scripts.at(*shell), &shared] {
      shared.json ? print_json({{"shell", *shell}, {"script", script}}) : print(script);
      return success;
    };
  });
}

}  // namespace holdfast::cli
