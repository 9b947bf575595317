// The connection of one client, on which things get lost, late, repeated and cut.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "base/time.hpp"
#include "lease/step.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::simulation {

class client;
class world;

inline constexpr milliseconds response_timeout{200};

// A passing fault of the way between one client and the server.
enum class trouble : std::uint8_t { none, cut, mute, deaf, slow };

// The purpose of a request. Of each purpose one is under way at most.
enum class use : std::uint8_t { request, renewal, courtesy };

struct parcel {
  use what = use::request;
  std::string bytes{};
  substrate::token_major floor = 0;
  bool repeatable = false;  // a second copy, executed after the answer came, must do no harm
  std::function<void(const resp::value& reply)> executed{};  // at the server, heard or not
};

// A value that the server sent, and its position among all that it sent.
struct utterance {
  monotonic_time asked_at{};  // of an answer; of a message, when the server sent it
  std::uint64_t position = 0;
};

class wire {
 public:
  wire(world& of, client& whose);

  int connection() const noexcept { return connection_; }
  // Connects if it is not connected and can be; true if it was not.
  bool connect();
  void transmit(parcel what);
  // Its answer is not wanted any more.
  void forget(use what) { under_way_[static_cast<std::size_t>(what)] = 0; }
  void deliver_push(resp::value push);
  // When the last message was sent that never came.
  monotonic_time lost_push_at() const noexcept { return lost_push_at_; }
  // From now on until then; earlier faults are over.
  void afflict(trouble what, monotonic_time until);
  bool is_troubled() const;
  // Its server was succeeded by another, whose replica it is.
  void stay_at_replica() { is_at_replica_ = true; }
  bool is_at_replica() const noexcept { return is_at_replica_; }
  // Nothing comes for a while.
  bool stalls() const;
  // The server has just executed what it asked, heard or not.
  bool has_just_asked() const;
  // The connection is cut. The server notices, unless it was only we who lost it.
  void cut(bool noticed = true);

 private:
  enum class fate : std::uint8_t { fine, lost, unanswered, late, repeated };
  fate draw_fate(const parcel& what);
  void travel(const parcel& what, fate how, nanoseconds delay, std::uint64_t flight);
  void fail(use what, std::uint64_t flight, no_answer how = no_answer::unknown);
  bool is_shut_to_requests() const;
  bool is_shut_to_answers() const;
  void stall();
  void leave_if_refused(const resp::value& reply);
  monotonic_time arrival(std::size_t stream);

  world& world_;
  client& client_;
  int connection_ = -1;
  bool is_at_replica_ = false;
  monotonic_time connected_at_{};
  std::uint64_t flights_ = 0;
  std::array<std::uint64_t, 3> under_way_{};     // of each use; 0: none
  std::array<monotonic_time, 2> heard_until_{};  // sent first, heard first
  monotonic_time lost_push_at_ = monotonic_time::min(), asked_at_ = monotonic_time::min();
  std::uint64_t said_ = 0;  // answers and messages of the server
  trouble trouble_ = trouble::none;
  monotonic_time trouble_ends_ = monotonic_time::min();
  bool one_reader_;  // hears all in the order in which it was sent; or two, and messages overtake
};

}  // namespace holdfast::simulation
