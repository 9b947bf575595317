#include "support/fault_proxy.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <list>
#include <optional>
#include <utility>

#include "net/clock.hpp"
#include "support/eventually.hpp"
#include "support/listener.hpp"
#include "support/service_thread.hpp"

namespace holdfast::support {
namespace {

struct chunk {
  std::string bytes;
  monotonic_time due;
};

// The faults of one direction.
struct ailment {
  milliseconds delay{0};
  bool stalled = false;
  bool swallows = false;
  std::optional<std::size_t> bytes_left;  // until the cut
  cut how = cut::close;
};

struct counters {
  std::size_t received = 0;
  std::size_t forwarded = 0;
};

constexpr std::size_t most_waiting = 256UL * 1024;  // beyond it the sender is held up

// One direction of one connection.
class lane {
 public:
  lane(net::descriptor& from, net::descriptor& to, ailment& ill, counters& counted)
      : from_(from), to_(to), ill_(ill), counted_(counted) {}

  bool wants_to_read() const { return !ended_ && waiting_bytes() < most_waiting; }
  bool wants_to_write(monotonic_time now) const {
    return !ill_.stalled && !waiting_.empty() && waiting_.front().due <= now;
  }
  // When there is something to do that poll() cannot know of.
  monotonic_time due() const {
    if (ill_.stalled) return monotonic_time::max();
    if (!waiting_.empty()) return waiting_.front().due;
    return ended_ && !closed_ ? monotonic_time{} : monotonic_time::max();
  }
  bool is_over() const { return closed_; }

  // Both return false when the connection is broken.
  bool read(monotonic_time now) {
    char buffer[16 * 1024];
    const auto got = ::recv(from_.get(), buffer, sizeof buffer, 0);
    if (got < 0) return errno == EAGAIN;
    ended_ = got == 0;
    counted_.received += static_cast<std::size_t>(got);
    if (got > 0 && !ill_.swallows) {
      waiting_.push_back({std::string(buffer, static_cast<std::size_t>(got)), now + ill_.delay});
    }
    return true;
  }

  bool write(monotonic_time now) {
    if (closed_) waiting_.clear();  // by half_close(): there is nobody to tell it
    while (wants_to_write(now) && ill_.bytes_left != std::size_t{0}) {
      auto& bytes = waiting_.front().bytes;
      const auto most = std::min(bytes.size(), ill_.bytes_left.value_or(bytes.size()));
      const auto sent = ::send(to_.get(), bytes.data(), most, MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      counted_.forwarded += static_cast<std::size_t>(sent);
      if (ill_.bytes_left) *ill_.bytes_left -= static_cast<std::size_t>(sent);
      bytes.erase(0, static_cast<std::size_t>(sent));
      if (bytes.empty()) waiting_.pop_front();
    }
    if (ended_ && waiting_.empty() && !ill_.stalled) close();
    return true;
  }

  // True when the next byte is the one before which the connection is to be cut: at once after the
  // last allowed one, or, when none was allowed, as soon as there is one.
  bool is_at_cut(std::size_t forwarded_before) const {
    const bool reached = ill_.bytes_left == std::size_t{0} && !ill_.stalled;
    return reached && (counted_.forwarded > forwarded_before || !waiting_.empty());
  }

  void close() {
    if (!closed_) ::shutdown(to_.get(), SHUT_WR);
    closed_ = true;
  }

  // The cut happens once.
  cut take_cut() {
    ill_.bytes_left.reset();
    return ill_.how;
  }
  std::size_t forwarded() const { return counted_.forwarded; }

 private:
  std::size_t waiting_bytes() const {
    std::size_t sum = 0;
    for (const auto& piece : waiting_) sum += piece.bytes.size();
    return sum;
  }

  net::descriptor& from_;
  net::descriptor& to_;
  ailment& ill_;
  counters& counted_;
  std::deque<chunk> waiting_;
  bool ended_ = false;   // the sender has closed its side
  bool closed_ = false;  // and the receiver was told
};

void end(net::descriptor& socket, cut how) {
  if (how == cut::reset) {
    net::close_hard(socket);
  } else {
    // Unread bytes would turn close() into a reset, which may overtake what was sent.
    ::shutdown(socket.get(), SHUT_WR);
    char ignored[4096];
    while (::recv(socket.get(), ignored, sizeof ignored, MSG_DONTWAIT) > 0) {
    }
    socket.reset();
  }
}

using both = std::array<ailment, 2>;
using both_counters = std::array<counters, 2>;

constexpr std::size_t index(toward where) { return static_cast<std::size_t>(where); }

struct connection {
  connection(both& ill, both_counters& counted)
      : lanes{lane(client, server, ill[0], counted[0]), lane(server, client, ill[1], counted[1])} {}

  void end_both(cut how) {
    end(client, how);
    end(server, how);
  }

  net::descriptor client;
  net::descriptor server;
  std::array<lane, 2> lanes;  // toward the server, toward the client
};

}  // namespace

class fault_proxy::state final : public service_thread::service {
 public:
  state(net::endpoint server, const net::tcp_endpoint& at)
      : server_(std::move(server)), address(at.host), port(bind_and_listen(at.port)) {}

  void listen() { listen_on_loopback(listener_, port, address); }
  void stop_listening() { listener_.reset(); }

  void heal() { ill = {}; }

  void disconnect(cut how) {
    for (auto& open : open_) open.end_both(how);
    open_.clear();
  }

  void half_close(toward where) {
    for (auto& open : open_) open.lanes[index(where)].close();
  }

  std::size_t open_connections() const { return open_.size(); }

  both ill;
  both_counters counted;
  std::size_t accepted = 0;
  std::size_t cuts = 0;

 private:
  std::uint16_t bind_and_listen(std::uint16_t wanted) {
    const auto got = bind_on_loopback(bound_, wanted, address);
    return listen_on_loopback(listener_, got, address);
  }

  void wants(std::vector<pollfd>& descriptors, monotonic_time& at) override {
    const auto now = net::now();
    descriptors.push_back({listener_.get(), POLLIN, 0});
    for (auto& open : open_) {
      const auto& [to_server, to_client] = open.lanes;
      descriptors.push_back(interest(open.client, to_server, to_client, now));
      descriptors.push_back(interest(open.server, to_client, to_server, now));
      for (const auto& one : open.lanes) {
        if (!one.wants_to_write(now)) at = std::min(at, one.due());
      }
    }
  }

  // Of a socket from which `out` reads and to which `in` writes. A socket of which nothing is
  // wanted is left out: poll() would report its end again and again.
  static pollfd interest(const net::descriptor& socket, const lane& out, const lane& in,
                         monotonic_time now) {
    const int events = (out.wants_to_read() ? POLLIN : 0) | (in.wants_to_write(now) ? POLLOUT : 0);
    return {events != 0 ? socket.get() : -1, static_cast<short>(events), 0};
  }

  void serve(std::span<const pollfd> descriptors) override {
    const auto now = net::now();
    auto next = descriptors.begin();
    const bool somebody_waits = (next++)->revents != 0;
    for (auto open = open_.begin(); open != open_.end();) {
      const short client_events = (next++)->revents;
      const short server_events = (next++)->revents;
      const bool goes_on = forward(*open, client_events, server_events, now);
      open = goes_on ? std::next(open) : open_.erase(open);
    }
    if (somebody_waits) accept();
  }

  // False when the connection is over.
  bool forward(connection& open, short client_events, short server_events, monotonic_time now) {
    const std::array<short, 2> source{client_events, server_events};
    for (std::size_t i = 0; i < 2; ++i) {
      auto& one = open.lanes[i];
      const auto before = one.forwarded();
      const bool intact =
          (source[i] == 0 || !one.wants_to_read() || one.read(now)) && one.write(now);
      if (one.is_at_cut(before)) {
        ++cuts;
        open.end_both(one.take_cut());
        return false;
      }
      if (!intact) {
        open.end_both(cut::reset);
        return false;
      }
    }
    return !(open.lanes[0].is_over() && open.lanes[1].is_over());
  }

  void accept() {
    for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
      ++accepted;
      auto& made = open_.emplace_back(ill, counted);
      made.client.reset(fd);
      const net::connect_limits limits{net::now() + generous, generous, nullptr};
      if (net::connect(server_, limits, made.server).empty()) continue;
      made.end_both(cut::reset);
      open_.pop_back();
    }
  }

  net::endpoint server_;
  net::descriptor bound_;  // or another process has the port when nobody listens on it
  net::descriptor listener_;
  std::list<connection> open_;

 public:
  const std::string address;
  const std::uint16_t port;
  service_thread thread{"fault-proxy", *this};  // last: it uses all of the above
};

fault_proxy::fault_proxy(net::endpoint server, net::tcp_endpoint at)
    : state_(std::make_unique<state>(std::move(server), at)) {}
fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept { return state_->port; }
std::string fault_proxy::url() const {
  return "redis://" + state_->address + ":" + std::to_string(port());
}

void fault_proxy::cut_after(toward where, std::size_t bytes, cut how) {
  state_->thread.run([&] {
    auto& ill = state_->ill[index(where)];
    ill.bytes_left = bytes;
    ill.how = how;
  });
}

void fault_proxy::delay(toward where, milliseconds by) {
  state_->thread.run([&] { state_->ill[index(where)].delay = by; });
}

void fault_proxy::stall(toward where) {
  state_->thread.run([&] { state_->ill[index(where)].stalled = true; });
}

void fault_proxy::swallow(toward where) {
  state_->thread.run([&] { state_->ill[index(where)].swallows = true; });
}

void fault_proxy::heal() {
  state_->thread.run([&] { state_->heal(); });
}

void fault_proxy::half_close(toward where) {
  state_->thread.run([&] { state_->half_close(where); });
}

void fault_proxy::disconnect(cut how) {
  state_->thread.run([&] { state_->disconnect(how); });
}

void fault_proxy::refuse_connections() {
  state_->thread.run([&] { state_->stop_listening(); });
}

void fault_proxy::accept_connections() {
  state_->thread.run([&] { state_->listen(); });
}

std::size_t fault_proxy::forwarded(toward where) const {
  return state_->thread.run([&] { return state_->counted[index(where)].forwarded; });
}

std::size_t fault_proxy::received(toward where) const {
  return state_->thread.run([&] { return state_->counted[index(where)].received; });
}

std::size_t fault_proxy::connections() const {
  return state_->thread.run([&] { return state_->accepted; });
}

std::size_t fault_proxy::open_connections() const {
  return state_->thread.run([&] { return state_->open_connections(); });
}

std::size_t fault_proxy::cuts() const {
  return state_->thread.run([&] { return state_->cuts; });
}

}  // namespace holdfast::support
