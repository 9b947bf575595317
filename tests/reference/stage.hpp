// Plays one lock of a kind that is held: seeded operations of several clients, some on threads that
// wait. After each of them the world must have come to what the model says: who holds what, with
// which token, for how long, and who waits in which order.
//
// The model (settle): who waits comes in in the order of arrival when it goes together with all who
// hold; a change stands in front of all who hold nothing yet; who wants less than it has, waits for
// nobody. Each operation begins when no lease is about to end, and one during which a lease ended
// is not judged: so every verdict is certain, however busy the machine is.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "reference/held_kind.hpp"
#include "reference/observer.hpp"
#include "reference/run.hpp"

namespace holdfast::reference {

class stage {
 public:
  stage(run& choices, held_kind& kind);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  void play(int steps);

 private:
  struct call;  // an acquisition on a thread of its own
  struct holder {
    std::uint64_t id = 0;
    std::shared_ptr<watched> at;  // null: the model has granted it, its thread has not told yet
    want has{};
    terms on{};
    std::size_t by = 0;
    nanoseconds window{0};  // how long the call took that gave it its present deadline
    milliseconds asked{0};  // the longest lease that was asked for
    bool by_this_thread = false;
    std::uint64_t order = 0;  // of its grant
  };
  struct waiter {
    std::uint64_t id = 0;
    want asked{};
    terms on{};
    std::size_t by = 0;
    std::optional<std::uint64_t> changes{};  // the holder that it changes
    std::uint64_t granted = 0;               // its order; 0: not yet
    bool ends_by_itself = false;             // times out
    bool stopped = false;
    bool loses = false;          // what it changes has ended
    bool asks_too_much = false;  // there are fewer permits now than it wants
    std::shared_ptr<call> at;
  };
  struct grant {
    std::uint64_t order;
    want has;
    fencing_token token;
    bool ordered;
    std::uint64_t hold;
  };

  // Operations (stage_steps.cpp).
  void step();
  void ask_once();
  void begin_to_wait();
  void release_one();
  void release(std::deque<holder>::iterator at);
  void extend_one();
  void change_one(bool waits);
  void change_once(std::uint64_t id, const want& to, bool deadlock);
  void stop_one();
  void enter_again();
  void resize();
  void harass(holder& ended);
  void finish();
  void break_it();
  void release_rest();
  void stop_all();

  // The model and what is compared with it (stage.cpp).
  bool settle();
  bool settle_changes(bool& blocked);
  void converge();
  bool take_out_the_ended();
  void await_short_leases(milliseconds margin);
  std::string behind();
  std::string behind_of(waiter& one, bool& gone);
  std::string differs_from_server();
  std::string differs(const lock_status& seen, monotonic_time before, monotonic_time after);
  std::string differs_in_queue(const lock_status& seen) const;
  std::string belief_differs(const holder& one, const lock_holding& shown, monotonic_time before,
                             monotonic_time after) const;
  void adopt(waiter& one);
  void adopt_change(waiter& one);
  void judge_token(const holder& one, std::optional<fencing_token> before);
  bool all_certain() const;
  void add(holder one);

  std::vector<want> wants(std::optional<std::uint64_t> without = std::nullopt) const;
  bool anybody_waits() const;
  bool a_change_waits() const;
  holder* find(std::uint64_t id);
  bool has_pending_change(std::uint64_t id) const;
  std::optional<std::size_t> client_for(const want& asked, const terms& how);
  terms any_terms();
  terms terms_of_change();
  claim claim_of(const want& asked, std::size_t by, std::uint64_t hold, const terms& how) const;
  std::string who(std::uint64_t id, std::size_t by) const;
  std::shared_ptr<call> start(const lock& what, const claim& as, milliseconds timeout);

  run& run_;
  held_kind& kind_;
  const std::string name_;
  observer observer_;
  std::deque<holder> holders_;
  std::deque<waiter> waiters_;
  std::vector<grant> grants_;
  std::uint64_t ids_ = 0, orders_ = 0;
  std::optional<std::uint32_t> said_permits_;
  std::optional<std::pair<std::size_t, terms>> keeper_;  // of a kept lock: client and options
  bool changed_ = false;                                 // something was changed in place
};

// One round of a kind: a lock, and some dozens of operations.
void play_held(run& choices, kind_maker make);

}  // namespace holdfast::reference
