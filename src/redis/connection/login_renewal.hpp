// Sends the newest login on a connection that is there.
#pragma once

#include <cstdint>
#include <string>

#include "redis/connection/login_source.hpp"
#include "redis/connection/pipeline.hpp"
#include "redis/connection/request.hpp"
#include "redis/connection/session.hpp"

namespace holdfast::redis {

// AUTH goes between the other commands, which neither wait for it nor fail with it. A server that
// refuses it lets the connection be as it was: so does the client, and waits for what the source
// gives next.
//
// Thread safety: all members from any thread.
class login_renewal final : private request, private login_hearer {
 public:
  explicit login_renewal(pipeline& line);
  ~login_renewal();

  // A link was opened. Its login may not be the newest any more.
  void on_connected(const session_facts& facts) HOLDFAST_EXCLUDES(line_.guard);
  // A command was refused since this connection is not logged in (any more).
  void on_logged_out(const std::string& said) HOLDFAST_EXCLUDES(line_.guard);

 private:
  // True: wake the background thread.
  bool send_if_outdated() HOLDFAST_REQUIRES(line_.guard);
  void finish() HOLDFAST_EXCLUDES(line_.guard);

  // Of login_hearer.
  void on_new_login() override HOLDFAST_EXCLUDES(line_.guard);

  // Of request.
  void write(resp::writer& out, monotonic_time) override;
  void on_first_answer(const resp::value& said) noexcept override;
  void on_reply(resp::value& said) override HOLDFAST_EXCLUDES(line_.guard);
  void on_failed(no_answer, const breakdown&) override HOLDFAST_EXCLUDES(line_.guard);

  // The login of a link that is up, or that was sent on it, be it refused or not.
  struct used {
    std::uint64_t number = 0;
    std::string server;
  };

  pipeline& line_;
  login_source* const source_;  // of the settings; null: there is none
  used used_ HOLDFAST_GUARDED_BY(line_.guard);
  bool is_under_way_ HOLDFAST_GUARDED_BY(line_.guard) = false;

  // Of what is under way: on one thread after the other.
  used sent_;
  bool is_accepted_ = false;
  std::string refusal_;
};

}  // namespace holdfast::redis
