#include "simulation/telling.hpp"

#include <algorithm>

namespace holdfast::simulation {
namespace {

// `<what> <request> ...`
bool is_told(std::span<const std::string> messages, std::string_view what, std::string_view who) {
  return std::ranges::any_of(messages, [&](std::string_view said) {
    if (!said.starts_with(what)) return false;
    said.remove_prefix(what.size());
    return said.starts_with(' ') && said.substr(1).starts_with(who) &&
           said.substr(1 + who.size()).starts_with(' ');
  });
}

bool asks(const effect& of, std::string_view who) {
  return of.command.find(who) != of.command.npos;
}

bool is_told_of_his_grant(const effect& of, std::string_view owner) {
  return is_told(of.messages, "grant", owner) || is_told(of.messages, "shared", owner);
}

bool is_told_that_he_is_next(const effect& of, const waiter& one) {
  return is_told(of.messages, "next", one.owner);
}

// A waiter that stands there in two ways, after the clock was set back, may be served as one that
// polls.
bool waits_for_word(const effect& of, std::string_view owner) {
  bool stands = false;
  for (const auto& one : of.queue_before) {
    if (one.owner != owner) continue;
    if (!one.hears) return false;
    stands = true;
  }
  return stands;
}

}  // namespace

std::string check_telling(const effect& of) {
  for (const auto& owner : of.new_owners) {
    if (!waits_for_word(of, owner) || asks(of, owner)) continue;
    if (!is_told_of_his_grant(of, owner)) return "T1: one was given the lock who was not told so";
  }
  if (of.queue.empty()) return {};
  const auto& first = of.queue.front();
  const bool was_first = !of.queue_before.empty() && of.queue_before.front().owner == first.owner;
  if (was_first || !first.hears || asks(of, first.owner)) return {};
  if (is_told_that_he_is_next(of, first)) return {};
  return "T2: one has come to the front of the queue and was not told so";
}

}  // namespace holdfast::simulation
