// A network that does as it is told, between a client and a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/time.hpp"
#include "net/socket.hpp"

namespace holdfast::support {

enum class toward { server, client };  // the direction in which bytes travel
enum class cut { close, reset };       // FIN after what was sent, or RST

// Forwards TCP connections from a port of this machine to a server. Faults concern the connections
// that are open and those to come, until heal(); they are in force when the call is back.
// Thread safety: all members from any thread.
class fault_proxy {
 public:
  // `at`: where it listens; port 0: any free one.
  explicit fault_proxy(net::endpoint server, net::tcp_endpoint at = {"127.0.0.1", 0});
  ~fault_proxy();

  std::uint16_t port() const noexcept;
  std::string url() const;  // redis://ADDRESS:port

  // Once: the connection in which byte number `bytes` from now on travels is cut right behind it;
  // 0: before the first.
  void cut_after(toward where, std::size_t bytes, cut how = cut::close);

  void delay(toward where, milliseconds by);  // bytes that arrive from now on
  void stall(toward where);                   // bytes wait here until heal()
  void swallow(toward where);                 // bytes vanish for good
  void heal();                                // ends the four above

  void half_close(toward where);  // the receiver of this direction sees its end, now
  void disconnect(cut how);       // all connections, now
  void refuse_connections();      // nobody listens any more
  void accept_connections();      // at the same port again

  std::size_t forwarded(toward where) const;  // bytes, since the beginning
  std::size_t received(toward where) const;   // bytes that arrived here, forwarded or not
  std::size_t connections() const;            // accepted since the beginning
  std::size_t open_connections() const;
  std::size_t cuts() const;  // connections that cut_after() has ended

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace holdfast::support
