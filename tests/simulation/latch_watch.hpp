// What is promised of a latch, checked after each command (docs/kinds.md).
//
//   G1  no client goes on that called since it was set and before it was counted down: between
//       `call` and `go on` it was open at some moment
//   G2  it is set and counted down as it was asked, and by no mere waiter; each change
//       counts once (change_watch.hpp)
//   G3  a waiter goes on once it opens, also when it is set again before the waiter hears of it;
//       nobody stands in the queue of a latch that was just set
//
// Excused: G3 across a loss of the server's memory (it is open then).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "simulation/change_watch.hpp"
#include "simulation/gate_watch.hpp"

namespace holdfast::simulation::gates {

class latch_watch final : public gate_watch, public change_watch {
 public:
  using change_watch::change_watch;

  const dialects::recipe& how() const override;
  void called(const std::string& request) override;
  void asks(const std::string&, substrate::wakeup_way) override {}
  void told_to_wait(const std::string& request, monotonic_time asked_at) override;
  void executed(const std::string& request) override;
  void passed(const std::string& request, substrate::token_major) override;
  void failed(const std::string& request, errc why, bool calm) override;
  void left(const std::string&) override {}
  std::optional<monotonic_time> open_since(const std::string& request) const override;

  using change_watch::executed;
  dialects::once_call draw(const std::string& request) override;
  std::optional<dialects::once_call> follow(const substrate::once_answer& answer,
                                            const std::string& next) override;
  bool lasts(std::string_view key) const override;
  void happened(fault what) override;  // to both

 private:
  struct call {
    monotonic_time begun_at;
    bool may_pass = false;  // it was open since
    bool waits = false;     // it was told so
    std::optional<monotonic_time> opened_at{};
  };
  struct wish {
    bool sets = false;
    std::uint32_t number = 0;  // to this, or down by it
  };

  std::string look() override;
  void done(const std::string& request, const substrate::once_answer& answer,
            const std::string& after) override;
  bool is_undone(const std::string& request, const substrate::once_answer& answer) const override;
  void became(std::uint32_t left);

  std::uint32_t left_ = 0;
  monotonic_time open_since_{};
  std::map<std::string, call, std::less<>> calls_;
  std::map<std::string, wish, std::less<>> wishes_;
};

}  // namespace holdfast::simulation::gates
