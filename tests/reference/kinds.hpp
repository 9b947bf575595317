// All kinds of the reference: a name, and what plays one round of it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/run.hpp"

namespace holdfast::reference {

struct played_kind {
  std::string name;
  void (*play)(run&);
};

void play_value_block(run& choices);
void play_lock_delay(run& choices);
void play_recursive(run& choices);
void play_all_of(run& choices);
void play_latch(run& choices);
void play_barrier(run& choices);
void play_leader(run& choices);
void play_counter(run& choices);
void play_fenced(run& choices);
void play_rate_limiter(run& choices);
void play_ids(run& choices);
void play_snowflake(run& choices);
void play_pairs(run& choices);
void play_crowd(run& choices);

const std::vector<played_kind>& played_kinds();

}  // namespace holdfast::reference
