// holdfast status NAME...: shows who holds these locks.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <holdfast/inspector.hpp>
#include <holdfast/quorum_inspector.hpp>

#include "cli/commands.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "cli/quorum_choice.hpp"
#include "cli/quorum_view.hpp"

namespace holdfast::cli {
namespace {

template <typename Lock>
void print_as_json(const std::vector<Lock>& locks) {
  nlohmann::ordered_json all = {{"locks", nlohmann::ordered_json::array()}};
  for (const auto& lock : locks) all["locks"].push_back(to_json(lock));
  print_json(all);
}

// Looks at each, and says why one cannot be seen: it hides no other.
template <typename Lock>
class looked_at {
 public:
  template <typename Look>
  looked_at(const std::vector<std::string>& names, const context& shared, Look look) {
    const bool is_one_server = shared.connection.url.find("+cluster:") == std::string::npos;
    std::optional<failure> first;
    for (const auto& name : names) {
      try {
        locks.push_back(look(name));
      } catch (const failure& why) {
        if (is_one_server && why.reason() == errc::unavailable) throw;  // it has the others too
        if (!first) first = why;
        told_.push_back({why.reason(), name + " cannot be seen: " + why.what()});
      }
    }
    if (locks.empty()) throw failure{*first};
    for (const auto& [reason, text] : told_) note(shared, name_of(reason), text);
  }

  std::vector<Lock> locks;

  int code() const { return told_.empty() ? success : incomplete_list; }

 private:
  std::vector<std::pair<errc, std::string>> told_;
};

int show_status(const std::vector<std::string>& names, const dialect& how, const context& shared) {
  const inspector look{shared.connection.connect()};
  const looked_at<lock_status> seen(names, shared,
                                    [&](const auto& name) { return look.status(name, how); });
  if (shared.json) {
    print_as_json(seen.locks);
  } else {
    print(lock_table(seen.locks));
    for (const auto& lock : seen.locks) print(lock_details(lock));
  }
  for (const auto& lock : seen.locks) {
    const bool may_be_foreign = how == dialect{} && lock.state == lock_state::free;
    if (may_be_foreign) tell_of_foreign(look, lock.name, shared);
  }
  return seen.code();
}

// Members that do not answer may have the votes of somebody's majority.
bool tell_of_unknown(const std::vector<quorum_status>& locks, const context& shared) {
  bool any = false;
  for (const auto& lock : locks) {
    if (lock.state != quorum_state::unknown) continue;
    any = true;
    note(shared, name_of(errc::unavailable),
         lock.name + " may be held: too few members answer to see whether a majority has voted");
  }
  return any;
}

int show_votes(const std::vector<std::string>& names, const quorum_choice& quorum,
               const dialect& how, const context& shared) {
  const auto members = quorum.connect(shared.connection);
  const quorum_inspector look{members};
  const looked_at<quorum_status> seen(names, shared,
                                      [&](const auto& name) { return look.status(name, how); });
  if (shared.json) {
    print_as_json(seen.locks);
  } else {
    print(quorum_table(seen.locks));
    for (const auto& lock : seen.locks) print(votes_table(lock));
  }
  for (const auto& lock : seen.locks) {
    if (how == dialect{} && lock.state == quorum_state::free) {
      tell_of_foreign_votes(members, lock.name, shared);
    }
  }
  return tell_of_unknown(seen.locks, shared) ? incomplete_list : seen.code();
}

}  // namespace

void add_status(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("status", "Show who holds locks");
  const auto names = std::make_shared<std::vector<std::string>>();
  const auto how = std::make_shared<dialect>();
  const auto quorum = std::make_shared<quorum_choice>();
  add_names(*command, *names, many_names);
  add_dialect(*command, *how);
  add_members(*command, *quorum);
  command->footer(
      "Examples:\n"
      "  holdfast status nightly orders:42\n"
      "  holdfast status --dialect redisson nightly\n"
      "  holdfast status --member redis://a --member redis://b --member redis://c nightly\n"
      "  holdfast status --dialect redlock --member redis://a --member redis://b ... nightly\n"
      "  holdfast status --json nightly | jq -r '.locks[0].owner.host'");
  command->callback([names, how, quorum, &shared] {
    shared.takes_operands = true;
    const auto all = all_names(*names, shared.operands, many_names, or_list_them);
    shared.action = [all, how, quorum, &shared] {
      quorum->replace_url(shared.connection);
      return quorum->given() ? show_votes(all, *quorum, *how, shared)
                             : show_status(all, *how, shared);
    };
  });
}

}  // namespace holdfast::cli
