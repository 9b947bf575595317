// Contenders who take locks while something happens, and whether the promises were kept.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "embedded/directories.hpp"
#include "faults/runs/contender.hpp"
#include "support/history/checker.hpp"
#include "support/options_for.hpp"
#include "support/private_server.hpp"

namespace holdfast::faults {

struct named {
  std::string name;
  mutex_options options;
  milliseconds least_hold{};
};

// A mutex of each, of a client or a quorum.
template <typename Redis>
std::vector<contended> mutexes(const Redis& of, const std::vector<named>& wanted) {
  using known =
      std::conditional_t<std::is_same_v<Redis, quorum>, quorum_mutex_options, mutex_options>;
  std::vector<contended> all;
  for (const auto& [name, options, least_hold] : wanted) {
    all.push_back(
        {name, options, {{of.mutex(name, support::options_for<known>(options))}}, least_hold});
  }
  return all;
}

class contended_run {
 public:
  // `server`: the program of what the locks protect.
  explicit contended_run(const std::string& server);

  // Two threads of each party take its locks for a while, while `meanwhile` is done, which takes
  // about `length`, and for a while afterwards.
  void play(const std::vector<std::vector<contended>>& parties, milliseconds length,
            const std::function<void()>& meanwhile);

  // Faults of their servers or network.
  void record(const history::event& what) { log_.record(what); }

  // After it was played: what was broken of the promises, as text; and all that happened. The
  // process of an event is its party, counted from 1.
  std::string violations() const;
  const std::vector<history::event>& events() const noexcept { return all_; }
  std::size_t count(history::kind what) const;

 private:
  void tell_writes(const std::vector<std::string>& locks);

  support::private_server resources_;
  embedded::private_directory directory_;
  recorder log_;
  std::vector<history::event> all_;
};

}  // namespace holdfast::faults
