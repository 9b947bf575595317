// Watches changes that count once (dialects/holdfast/once.hpp), at each copy that the server
// executes:
//
//   O1  a copy of a change that was done changes nothing, and is answered as the first
//   O2  what was answered was done; what was told not to be executed was not, and is not later
//
// Excused: copies across a loss of the server's memory, or of its `hf:once:*` alone, as when they
// are evicted (docs/values.md); and when its clock was set back.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lease/once_machine.hpp"
#include "redis/dialects/holdfast/once.hpp"
#include "simulation/faults.hpp"

namespace holdfast::simulation::gates {

class world;

// Each kind of value says what can be asked, and what must come of it.
class change_watch {
 public:
  explicit change_watch(world& of) : world_(of) {}
  virtual ~change_watch() = default;

  // The change that is asked for next, under this request id.
  virtual dialects::once_call draw(const std::string& request) = 0;
  // The change that must follow this answer at once, under the request id `next`.
  virtual std::optional<dialects::once_call> follow(const substrate::once_answer&,
                                                    const std::string& /*next*/) {
    return std::nullopt;
  }
  // Those that the catalog does not have.
  virtual std::vector<resp::script> scripts() const { return {}; }
  // Whether a key is there for as long as its user wants.
  virtual bool lasts(std::string_view key) const = 0;

  // Around each command that the server executes.
  void about_to_execute() { before_ = look(); }
  void executed(const std::string& request, const resp::value& reply);
  bool is_unchanged() { return look() == before_; }

  // The answer to its caller.
  void ended(const std::string& request, const leasing::once_machine::end& how);
  virtual void happened(fault what);

 protected:
  world& in() const noexcept { return world_; }
  // As the server has it; a text is empty where there is no key.
  std::string text_at(const std::string& key) const;
  const std::string& before() const noexcept { return before_; }
  monotonic_time emptied_at() const noexcept { return emptied_at_; }
  // Answers, so that a change may count twice.
  bool has_forgotten() const noexcept { return answers_lost_at_ > monotonic_time::min(); }
  bool was_set_back() const noexcept { return set_back_at_ > monotonic_time::min(); }

  // All that a change can change.
  virtual std::string look() = 0;
  // The first copy, which has made `after` of before().
  virtual void done(const std::string& request, const substrate::once_answer& answer,
                    const std::string& after) = 0;
  // Whether this answer is not remembered: nothing was done that a copy must not do.
  virtual bool is_undone(const std::string&, const substrate::once_answer&) const { return false; }

 private:
  struct effect {
    std::string word, rest;
    monotonic_time at;
  };

  world& world_;
  std::string before_;
  monotonic_time emptied_at_ = monotonic_time::min(), answers_lost_at_ = emptied_at_;
  monotonic_time set_back_at_ = monotonic_time::min();
  std::map<std::string, effect, std::less<>> effects_;
  std::set<std::string, std::less<>> over_;
};

}  // namespace holdfast::simulation::gates
