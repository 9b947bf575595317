#include "support/history/checker.hpp"

namespace holdfast::history {

std::string to_text(const violation& one) {
  auto text = "VIOLATED: " + one.invariant + " (promise " + one.promise + "): " + one.what + "\n";
  for (const auto& shown : one.events) text += "    " + to_line(shown) + "\n";
  return text;
}

std::vector<violation> check(const story& run, const bounds& within) {
  std::vector<violation> found;
  server_gives_to_those_who_go_together(run, found);
  tokens_grow(run, found);
  tokens_follow_time(run, found);
  beliefs_go_together(run, found);
  beliefs_end_in_time(run, found);
  nothing_changes_under_holders(run, found);
  writes_are_in_order(run, found);
  no_write_is_lost(run, found);
  free_lock_is_taken(run, within, found);
  arrival_is_order(run, within, found);
  all_are_served_in_the_end(run, within, found);
  calls_return(run, within, found);
  losses_are_told(run, within, found);
  nothing_is_left(run, found);
  return found;
}

}  // namespace holdfast::history
