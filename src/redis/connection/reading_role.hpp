// The role of reading the socket: one thread has it at a time, and hands it to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/waiter.hpp"
#include "redis/connection/request_queue.hpp"

namespace holdfast::redis {

//   caller       a thread that waits for its own answer reads for everybody (leader), and when it
//                has its answer offers the role to one of those that sleep (followers);
//   background   the background thread: when a crowd is in flight, or when nobody waits;
//   none         nothing is expected, or its answers may lie for a while; should the server close
//                the connection, the background thread takes the role.
//
// Thread safety: none. State that the role guards needs no lock.
class reading_role {
 public:
  enum class holder : std::uint8_t { none, caller, background };

  // The facts by which a reader decides whether to pass the role on.
  struct load {
    const request_queue& in_flight;
    std::size_t answered = 0;  // in the batch just read: those threads are about to ask again
    std::size_t crowd = 0;     // from so many on the background thread reads

    bool is_crowd() const noexcept { return in_flight.size() + answered >= crowd; }
    // Half of a crowd is not enough to call the background thread, but enough to keep it.
    bool is_calm() const noexcept { return in_flight.size() + answered < crowd / 2; }
  };

  // `calm`: after so many batches of answers without a crowd, callers read again.
  explicit reading_role(std::size_t calm) noexcept : calm_enough_(calm) {}

  bool is_free() const noexcept { return holder_ == holder::none; }
  bool is_in_background() const noexcept { return holder_ == holder::background; }

  void give_up() noexcept { holder_ = holder::none; }
  void take_in_background() noexcept { holder_ = holder::background; }
  void take_in_background_if_free() noexcept;
  // True: the calling thread has the role from now on. `may_take`: also if it was not offered.
  bool take(net::waiter& w, bool may_take) noexcept;

  // Threads that wait for a push read also when nothing is in flight. Null: something else waits.
  void listen(net::waiter* who);
  void unlisten(const net::waiter* who);
  bool nobody_listens() const noexcept { return listeners_.empty() && other_listeners_ == 0; }
  std::size_t listening_threads() const noexcept { return listeners_.size(); }

  // An executor wants to have the role back: its coroutines are served best by their own thread.
  void claim(net::waiter& executor) noexcept { claimant_ = &executor; }
  void forget(const net::waiter& leaving) noexcept;

  // True: somebody who listens has the role now.
  bool offer_to_listener(const net::waiter* leader) noexcept;

  // The leader has its answer.
  void pass_on(const net::waiter& leader, const load& now) noexcept;

  // The background thread has answers, among them one that a thread waits for if it
  // `answers_thread`. True: it leaves the rest to callers. Where it is slow to look up, there need
  // be no quiet moment in which it would stop by itself. `all_sent`: nothing waits to be written.
  bool leave_to_callers(const load& now, bool answers_thread, bool all_sent) noexcept;

 private:
  bool nothing_to_read(const load& now) const noexcept;
  bool offer_to_newest(const net::waiter* leader, const request_queue& in_flight) noexcept;
  bool offer_to_callers(const net::waiter* leader, const request_queue& in_flight) noexcept;

  const std::size_t calm_enough_;
  holder holder_ = holder::none;
  std::size_t calm_ = 0;  // batches since the last crowd
  net::waiter* claimant_ = nullptr;
  std::vector<net::waiter*> listeners_;  // threads, the oldest first
  std::size_t other_listeners_ = 0;
};

}  // namespace holdfast::redis
