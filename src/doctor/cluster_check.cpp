#include "doctor/cluster_check.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "redis/calls/ask.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

// A line of CLUSTER NODES: "<id> <ip:port@cport[,host]> <flags> <master> <ping> <pong> <epoch>
// <link> <slot> ...", of which a slot that is half moved is "[93->-<id>]" or "[93-<-<id>]".
struct node_line {
  std::string id, where, flags, master;
  std::vector<std::string> slots{};

  explicit node_line(const std::string& text) {
    std::istringstream words(text);
    std::string skipped;
    words >> id >> where >> flags >> master >> skipped >> skipped >> skipped >> skipped;
    for (std::string slot; words >> slot;) slots.push_back(std::move(slot));
    where.resize(std::min(where.size(), where.find('@')));
  }
};

std::string listed(const std::vector<std::string>& slots) {
  constexpr std::size_t most = 5;
  std::string text = slots.size() == 1 ? "slot " : "slots ";
  for (std::size_t i = 0; i < std::min(slots.size(), most); ++i) {
    text += (i == 0 ? "" : ", ") + slots[i];
  }
  if (slots.size() > most) text += " and " + std::to_string(slots.size() - most) + " more";
  return text + (slots.size() == 1 ? " is" : " are");
}

}  // namespace

std::vector<cluster_master> ask_masters(runtime::client_core& core) {
  std::vector<cluster_master> all;
  for (auto& share : redis_locks::engine_of(core).its_cluster()->shares()) {
    auto& one = all.emplace_back(cluster_master{std::move(share)});
    try {
      calls::ask(core, one.has.a_slot, {"PING"});
    } catch (const failure& broken) {
      one.silent = broken.what();
    }
  }
  return all;
}

void examine_masters(const std::vector<cluster_master>& all, std::vector<finding>& into) {
  std::size_t answering = 0;
  std::size_t served = 0;
  for (const auto& one : all) {
    if (!one.silent.empty()) {
      into.push_back({severity::problem, "connect", one.has.where + ": " + one.silent,
                      "the locks of its " + std::to_string(one.has.slots) +
                          " slots are not available: start it, or let a replica take over"});
      continue;
    }
    ++answering;
    served += one.has.slots;
  }
  if (all.empty()) {
    into.push_back(
        {severity::problem, "cluster", "no node of the URL knows a master",
         "they have left their cluster (CLUSTER RESET), or have not joined one yet: name "
         "others in the URL, and look at CLUSTER NODES"});
    return;
  }
  const auto masters = std::to_string(all.size()) + (all.size() == 1 ? " master" : " masters");
  const auto slots = std::to_string(served) + " of " + std::to_string(hash_slots) + " slots";
  if (answering < all.size()) {
    into.push_back({severity::problem, "cluster",
                    std::to_string(answering) + " of " + masters +
                        (answering == 1 ? " answers, with " : " answer, with ") + slots,
                    "see the findings about those that do not answer"});
    return;
  }
  const auto said = masters + (all.size() == 1 ? " has " : " have ") + slots;
  if (served < hash_slots) {
    into.push_back({severity::problem, "cluster", said,
                    "locks of the other slots are not available: see CLUSTER INFO of a node"});
    return;
  }
  // More than half of all masters, the dead one counted, must vote for the replica that takes over.
  constexpr std::size_t fewest = 3;
  const bool can_elect = all.size() >= fewest;
  into.push_back({can_elect ? severity::ok : severity::warning, "cluster", said,
                  can_elect ? ""
                            : "when one dies no replica takes over, since most masters must vote "
                              "for it: spread the slots over three masters at least"});
}

void examine_coverage(const asking& ask, std::size_t masters, std::vector<finding>& into) {
  if (masters == 1) return;  // it has all slots or none
  const std::string check = "full coverage";
  const auto demanded =
      redis::read_setting(ask({"CONFIG", "GET", "cluster-require-full-coverage"}));
  if (!demanded) {
    into.push_back({severity::ok, check,
                    "could not look at cluster-require-full-coverage (needs +config|get)", ""});
    return;
  }
  const bool all_or_nothing = *demanded == "yes";
  into.push_back(
      {all_or_nothing ? severity::warning : severity::ok, check,
       "cluster-require-full-coverage " + *demanded,
       all_or_nothing
           ? "while the slots of one master have none, all nodes refuse everything, and leases "
             "that are shorter are lost: set it to no at every node (CONFIG SET)"
           : ""});
}

node_view look_from_node(const asking& ask) {
  const auto said = ask({"CLUSTER", "NODES"});
  node_view seen;
  seen.is_refused = said.is(resp::type::error);
  if (!said.is_text()) return seen;
  std::vector<node_line> all;
  std::istringstream lines(said.text);
  for (std::string line; std::getline(lines, line);) all.emplace_back(line);
  const auto itself = std::ranges::find_if(
      all, [](const node_line& one) { return one.flags.find("myself") != one.flags.npos; });
  if (itself == all.end()) return seen;
  for (const auto& slot : itself->slots) {
    if (!slot.starts_with('[')) continue;
    const bool leaves = slot.find("->-") != slot.npos;
    (leaves ? seen.leaving : seen.arriving).push_back(slot.substr(1, slot.find('-') - 1));
  }
  for (const auto& one : all) {
    if (one.master == itself->id) seen.replicas.push_back({one.where, one.flags});
  }
  return seen;
}

void examine_moves(const node_view& seen, std::vector<finding>& into) {
  const auto report = [&](const std::vector<std::string>& slots, const char* how) {
    if (slots.empty()) return;
    into.push_back(
        {severity::warning, "open slots", listed(slots) + how,
         "until the move ends, clients ask two nodes for these locks, and a command with several "
         "keys may have to wait; `redis-cli --cluster fix` ends a move that was broken off"});
  };
  if (seen.is_refused) {
    into.push_back({severity::ok, "open slots",
                    "could not look at them, nor which replicas are missing (needs "
                    "+cluster|nodes)",
                    ""});
  }
  report(seen.leaving, " being moved away");
  report(seen.arriving, " being moved here");
}

}  // namespace holdfast::doctor
