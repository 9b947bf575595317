#include "reference/kinds.hpp"

#include "reference/stage.hpp"

namespace holdfast::reference {

const std::vector<played_kind>& played_kinds() {
  static const std::vector<played_kind> all{
      {"mutex", [](run& r) { play_held(r, mutex_kind); }},
      {"mutex-without-tokens", [](run& r) { play_held(r, plain_set_kind); }},
      {"mutex-retained", [](run& r) { play_held(r, retained_kind); }},
      {"election", [](run& r) { play_held(r, election_kind); }},
      {"read-write", [](run& r) { play_held(r, read_write_kind); }},
      {"semaphore", [](run& r) { play_held(r, semaphore_kind); }},
      {"mode-lock", [](run& r) { play_held(r, mode_lock_kind); }},
      {"value-block", play_value_block},
      {"lock-delay", play_lock_delay},
      {"recursive-mutex", play_recursive},
      {"all-of", play_all_of},
      {"latch", play_latch},
      {"barrier", play_barrier},
      {"leader", play_leader},
      {"counter", play_counter},
      {"fenced", play_fenced},
      {"rate-limiter", play_rate_limiter},
      {"ids", play_ids},
      {"snowflake", play_snowflake},
      {"pairs", play_pairs},
      {"crowd", play_crowd},
  };
  return all;
}

}  // namespace holdfast::reference
