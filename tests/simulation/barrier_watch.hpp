// What is promised of a barrier, checked after each command (docs/kinds.md, holdfast/barrier.hpp).
//
//   B1  no party goes on before all parties of its generation have arrived, and all of a generation
//       hear the same number
//   B2  each generation has exactly so many parties; an arrival counts in one generation only, as
//       long as the server remembers it: for a minute, and in the last four generations
//   B3  generations grow
//   B4  a party that is gone is not counted: one that has left, whose client has no connection, or
//       of which the server has not heard for two minutes (5 s if it polls)
//   B5  no party is told that the others went on without it unless that is so, and something has
//       happened to it or to the server
//
// Excused: B2 and B5 for a forgotten party, and across a loss of the server's memory; B3 where its
// clock was behind then; B4 when the clock was set back.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "simulation/gate_watch.hpp"
#include "simulation/server/keyspace.hpp"

namespace holdfast::simulation::gates {

class world;

class barrier_watch final : public gate_watch {
 public:
  barrier_watch(world& of, std::uint32_t parties)
      : world_(of), wants_{.mode = 'b', .limit = parties} {}

  const dialects::recipe& how() const override;
  const substrate::demand* wants() const override { return &wants_; }
  void called(const std::string& request) override;
  void asks(const std::string& request, substrate::wakeup_way way) override;
  void told_to_wait(const std::string&, monotonic_time) override {}
  void executed(const std::string& request) override;
  void passed(const std::string& request, substrate::token_major generation) override;
  void failed(const std::string& request, errc why, bool calm) override;
  void left(const std::string& request) override { left_.insert(request); }
  void happened(fault what) override;
  std::optional<monotonic_time> open_since(const std::string& request) const override;

 private:
  struct call {
    substrate::wakeup_way way{};
    microseconds asked_at{};  // the server's time
  };
  struct passage {
    substrate::token_major generation = 0;
    monotonic_time at{};
  };

  void opened(const keyspace::sorted_set& gone_on, const std::string& by);
  void went_on(const std::string& party, substrate::token_major generation, const std::string& by);
  bool may_forget(const std::string& party, std::size_t known) const;
  bool is_gone(const std::string& party) const;

  world& world_;
  const substrate::demand wants_;
  substrate::token_major last_ = 0;  // generation, as the server has it; 0: it has none
  substrate::token_major newest_ = 0;
  monotonic_time emptied_at_ = monotonic_time::min();
  bool set_back_ = false, counter_lost_ = false;
  std::map<std::string, call, std::less<>> calls_;
  std::map<std::string, passage, std::less<>> passages_;
  std::set<std::string, std::less<>> remembered_;  // of passages_, by the server
  std::set<std::string, std::less<>> left_;
};

}  // namespace holdfast::simulation::gates
