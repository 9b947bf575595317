// holdfast counter NAME [get|add N|sub N|set N|cas A B]: reads or changes a counter.
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include <holdfast/client.hpp>

#include "cli/commands.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

std::int64_t number(const std::string& word) {
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (failed != std::errc{} || end != word.data() + word.size()) {
    throw CLI::ValidationError(word, "is not a whole number of 64 bits");
  }
  return value;
}

using change = std::function<counter_change(const counter&)>;

// The words after the name: the change.
change parse(const std::vector<std::string>& words) {
  const std::string action = words.empty() ? "get" : words.front();
  std::vector<std::int64_t> with;
  for (std::size_t i = 1; i < words.size(); ++i) with.push_back(number(words[i]));
  const auto takes = [&](const char* name, std::size_t numbers) {
    return action == name && with.size() == numbers;
  };
  if (takes("get", 0)) return [](const counter& c) { return counter_change{true, c.get()}; };
  if (takes("add", 1)) {
    return [n = with[0]](const counter& c) { return counter_change{true, c.add(n)}; };
  }
  if (takes("sub", 1)) return [n = with[0]](const counter& c) { return c.subtract(n); };
  if (takes("set", 1)) {
    return [n = with[0]](const counter& c) { return c.set(n), counter_change{true, n}; };
  }
  if (takes("cas", 2)) {
    return [a = with[0], b = with[1]](const counter& c) { return c.compare_and_set(a, b); };
  }
  throw CLI::ValidationError("NAME", "is followed by get, add N, sub N, set N or cas A B");
}

int run(const std::string& name, const change& act, const context& shared) {
  const auto outcome = act(shared.connection.connect().counter(name));
  if (shared.json) {
    nlohmann::ordered_json told;
    add_text(told, "name", name);
    told["changed"] = outcome.changed;
    told["value"] = outcome.value;
    print_json(told);
  } else {
    print(fmt::format("{}\n", outcome.value));
  }
  return outcome.changed ? success : problem_found;
}

}  // namespace

void add_counter(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("counter", "Read or change a counter");
  const auto words = std::make_shared<std::vector<std::string>>();
  add_names(*command, *words, 4);
  command->get_option("NAME")->description(
      "The counter, then get, add N, sub N, set N or cas A B; put words that begin with - after "
      "--");
  command->footer(
      "Prints the counter's value afterwards. Exit code 1 when the command changes nothing: sub\n"
      "would have gone below zero, or the counter was not A.\n\n"
      "Examples:\n"
      "  holdfast counter stock set 100\n"
      "  holdfast counter stock sub 2 && echo sold\n"
      "  holdfast counter -- balance add -5");
  command->callback([words, &shared] {
    shared.takes_operands = true;
    auto all = all_names(*words, shared.operands, 4);
    const auto name = all.front();
    all.erase(all.begin());
    shared.action = [name, act = parse(all), &shared] { return run(name, act, shared); };
  });
}

}  // namespace holdfast::cli
