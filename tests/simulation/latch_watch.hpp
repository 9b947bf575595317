// What is promised of a latch, checked after each command (docs/kinds.md).
//
//   G1  nobody goes on who called since it was set and before it was counted down: in between
//       `call` and `go on` it was open at some moment
//   G2  each change counts once: a copy of it changes nothing and is answered as the first; what
//       was answered was done; what was told not to be executed was not, and is not executed later
//   G3  who was told to wait goes on once it opens, also when it is set again before he hears of
//       it; nobody stands in the queue of a latch that was just set
//
// Excused: copies across a loss of the server's memory (it is open then), or when its clock was set
// back; G3 across a loss.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "dialects/holdfast/once.hpp"
#include "simulation/gate_watch.hpp"

namespace holdfast::simulation::gates {

class world;

class latch_watch final : public gate_watch {
 public:
  explicit latch_watch(world& of) : world_(of) {}

  const dialects::recipe& how() const override;
  void called(const std::string& request, dialects::wakeup_way) override;
  void told_to_wait(const std::string& request, monotonic_time asked_at) override;
  void executed(const std::string& request) override;
  void passed(const std::string& request, dialects::token_major) override;
  void failed(const std::string& request, errc why, bool calm) override;
  void left(const std::string&) override {}
  void happened(fault what) override;
  std::optional<monotonic_time> open_since(const std::string& request) const override;

  bool is_set() const noexcept { return left_ > 0; }

  // A copy of a change was executed: of `set` to a number, or `down` by it.
  void changed(const std::string& request, bool sets, std::uint32_t number,
               const resp::value& reply);
  // What its caller was told.
  void change_done(const std::string& request);
  void change_failed(const std::string& request, bool doubtful);

 private:
  struct call {
    monotonic_time begun_at;
    bool may_pass = false;  // it was open since
    bool waits = false;     // he was told so
    std::optional<monotonic_time> opened_at{};
  };
  struct effect {
    std::string word, rest;
    monotonic_time at;
  };

  std::uint32_t look();
  void became(std::uint32_t left);
  void first_copy(const std::string& request, bool sets, std::uint32_t number,
                  const dialects::once_answer& answer, std::uint32_t after);

  world& world_;
  std::uint32_t left_ = 0;
  monotonic_time open_since_{};
  monotonic_time emptied_at_ = monotonic_time::min(), set_back_at_ = monotonic_time::min();
  std::map<std::string, call, std::less<>> calls_;
  std::map<std::string, effect, std::less<>> effects_;  // of changes
  std::set<std::string, std::less<>> over_;             // changes that have ended
};

}  // namespace holdfast::simulation::gates
