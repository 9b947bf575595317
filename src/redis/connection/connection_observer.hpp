// The observer of a connection, which hears that it was made or broke, and of each push.
#pragma once

#include <cstdint>
#include <string>

#include "redis/connection/request.hpp"
#include "redis/connection/session.hpp"
#include "redis/resp/value.hpp"

namespace holdfast::redis {

// Called on the connecting or the reading thread, with no lock held, unless it says otherwise.
class connection_observer {
 public:
  virtual void on_connected(const session_facts& facts) = 0;  // before anything is sent
  virtual void on_push(resp::value& message, std::uint64_t position) = 0;
  virtual void on_broken() = 0;  // pushes since then are lost
  virtual void on_not_connected() {}
  // The answer to a request is an error. True: it has been submitted elsewhere instead of being
  // answered. `error` may be changed.
  virtual bool on_error(request&, std::string& /*error*/) { return false; }

  // On the background thread, under the connection's mutex: these must not block or call back.
  // Whether to connect again although nothing is to be sent.
  virtual bool needs_connection() { return false; }
  // Whether nothing will be asked here that could not be asked elsewhere: then the connection is
  // closed where it would be pinged.
  virtual bool is_dispensable() { return false; }

 protected:
  ~connection_observer() = default;
};

}  // namespace holdfast::redis
