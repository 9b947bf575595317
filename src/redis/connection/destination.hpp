// Whether there is a connection, and to which server it leads.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::redis {

// Thread safety: none.
class destination {
 public:
  // `is_known`: others say that the server exists, so failing to reach it proves little.
  explicit destination(bool is_known) noexcept : reached_(is_known) {}

  bool is_up() const noexcept { return state_ == state::up || state_ == state::ended; }
  bool is_closed() const noexcept { return state_ == state::closed; }
  bool may_set_out() const noexcept { return state_ == state::down; }
  // Ever.
  bool was_reached() const noexcept { return reached_; }
  // poll() has said so: nobody needs to ask it again.
  bool has_ended() const noexcept { return state_ == state::ended; }

  void set_out() noexcept {
    state_ = state::under_way;
    elsewhere_.clear();
  }
  // False: meanwhile it was said that the server is elsewhere. Then there is no connection.
  bool arrive(const std::string& address);
  void fail(bool reached) noexcept {
    state_ = state::down;
    reached_ = reached_ || reached;
  }

  void see_end() noexcept { state_ = state::ended; }
  void lose() noexcept { state_ = state::down; }
  void close() noexcept { state_ = state::closed; }

  // The server is at `address` (empty: nobody knows where). True: the connection leads to another
  // one and must end.
  bool must_leave_for(const std::string& address);

 private:
  enum class state : std::uint8_t { down, under_way, up, ended, closed };

  state state_ = state::down;
  bool reached_;
  std::string address_;    // while it is up
  std::string elsewhere_;  // where to go next, told since it set out; empty: nowhere
};

}  // namespace holdfast::redis
