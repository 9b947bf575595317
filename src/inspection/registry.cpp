#include "inspection/registry.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"

namespace holdfast::inspection {
namespace {

dialects::client_place place_of(runtime::client_core& core, const std::string& client) {
  return {redis_locks::engine_of(core).space(), client};
}

void show(const known_clients::entry& entry, holder& owner) {
  if (!entry) return;
  owner.host = entry->host;
  owner.pid = entry->pid;
  owner.program = entry->program;
  owner.version = entry->version;
}

}  // namespace

void look_up(runtime::client_core& core, const std::string& client, holder& owner,
             const redis_locks::bound& within) {
  if (client.empty()) return;
  const auto place = place_of(core, client);
  const auto query = [&](resp::writer& out) { dialects::write_client_query(place, out); };
  const auto answer = calls::ask(core, place.slot, query, within);
  show(calls::accept(dialects::read_client(answer)), owner);
}

void known_clients::learn(std::span<const wanted> clients) {
  std::vector<calls::question> questions;
  std::vector<learnt*> answers;
  for (const auto& one : clients) {
    const auto [known, is_new] = known_.try_emplace(one.client, learnt{.notes = one.notes});
    if (!is_new || one.client.empty()) continue;
    auto place = place_of(core_, one.client);
    const auto slot = place.slot;
    if (const auto silent = silent_.find(&redis_locks::engine_of(core_).at(slot));
        silent != silent_.end()) {
      known->second.why_unknown = silent->second;
      continue;
    }
    questions.push_back(
        {.slot = slot, .write = [&one, place = std::move(place)](resp::writer& out) {
           dialects::write_client_query(place, out, one.notes);
         }});
    answers.push_back(&known->second);
  }
  asked_.ask(questions);
  for (std::size_t i = 0; i < questions.size(); ++i) read(questions[i], *answers[i]);
}

void known_clients::read(calls::question& asked, learnt& into) {
  try {
    into.found = calls::accept(dialects::read_client(asked.take()));
  } catch (const failure& why) {
    into.why_unknown = why;
    auto& at = redis_locks::engine_of(core_).at(asked.slot);
    const bool is_silent = asked.how == calls::question::fate::failed && !at.connection.is_up();
    if (is_silent) silent_.emplace(&at, why);
  }
}

std::optional<failure> known_clients::why_unknown(const std::string& client) const {
  return known_.at(client).why_unknown;
}

const known_clients::entry& known_clients::entry_of(const std::string& client) {
  const wanted one{client};
  learn({&one, 1});
  return known_.at(client).found;
}

std::string known_clients::note_of(const std::string& client, const std::string& field) const {
  const auto known = known_.find(client);
  if (known == known_.end() || !known->second.found) return {};
  const auto& fields = known->second.notes;
  const auto& entry = known->second.found;
  const auto at = static_cast<std::size_t>(std::ranges::find(fields, field) - fields.begin());
  return at < entry->notes.size() ? entry->notes[at] : std::string{};
}

holder known_clients::who(const std::string& client, std::string id) {
  holder found;
  found.id = std::move(id);
  show(entry_of(client), found);
  return found;
}

}  // namespace holdfast::inspection
