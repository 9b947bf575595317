#include "support/fake_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <utility>

#include "net/socket.hpp"
#include "redis/resp/parser.hpp"
#include "support/listener.hpp"
#include "support/service_thread.hpp"

namespace holdfast::support {
namespace {

using reply = fake_server::reply;

std::string bulk(const std::string& bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
}

std::string time_of_day() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  return "*2\r\n" + bulk(std::to_string(now.tv_sec)) + bulk(std::to_string(now.tv_usec));
}

std::string hello(const fake_server::command& words) {
  const bool resp3 = words.size() > 1 && words[1] == "3";
  return (resp3 ? "%3\r\n" : "*6\r\n") + bulk("server") + bulk("fake") + bulk("version") +
         bulk("7.4.0") + bulk("proto") + (resp3 ? ":3\r\n" : ":2\r\n");
}

reply usual_answer(const fake_server::command& words) {
  const auto& name = words.at(0);
  if (name == "HELLO") return {hello(words)};
  if (name == "TIME") return {time_of_day()};
  if (name == "PING") return {"+PONG\r\n"};
  if (name == "AUTH" || name == "SELECT" || name == "CLIENT") return {"+OK\r\n"};
  return fake_server::error("ERR unknown command '" + name + "'");
}

struct visitor {
  net::descriptor socket;
  std::string received;
  std::string unsent;
  std::string again;                                  // when everything is sent
  fake_server::then after = fake_server::then::stay;  // when everything is sent
};

}  // namespace

class fake_server::state final : public service_thread::service {
 public:
  explicit state(script how) : answering(std::move(how)), port(listen_on_loopback(listener_)) {}

  void push(std::string_view bytes) {
    for (auto& one : visitors) one.unsent += bytes;
  }

  script answering;
  reply greeting;
  std::vector<command> received;
  std::size_t accepted = 0;
  std::list<visitor> visitors;
  bool dribbles = false;

 private:
  void wants(std::vector<pollfd>& descriptors, monotonic_time& /*at*/) override {
    descriptors.push_back({listener_.get(), POLLIN, 0});
    for (const auto& one : visitors) {
      const bool has_more = !one.unsent.empty() || !one.again.empty();
      const int events = POLLIN | (has_more ? POLLOUT : 0);
      descriptors.push_back({one.socket.get(), static_cast<short>(events), 0});
    }
  }

  void serve(std::span<const pollfd> descriptors) override {
    auto next = descriptors.begin();
    const bool somebody_waits = (next++)->revents != 0;
    for (auto one = visitors.begin(); one != visitors.end();) {
      const bool stays = (next++)->revents == 0 || attend(*one);
      one = stays ? std::next(one) : visitors.erase(one);
    }
    if (somebody_waits) accept();
  }

  void accept() {
    for (int fd = accept_from(listener_); fd >= 0; fd = accept_from(listener_)) {
      ++accepted;
      auto& one = visitors.emplace_back();
      one.socket.reset(fd);
      one.unsent = greeting.bytes;
      one.again = greeting.again;
      one.after = greeting.after;
      if (!send(one)) visitors.pop_back();
    }
  }

  // False when the connection is over.
  bool attend(visitor& one) {
    char buffer[64 * 1024];
    const auto got = ::recv(one.socket.get(), buffer, sizeof buffer, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got > 0) one.received.append(buffer, static_cast<std::size_t>(got));
    while (one.after == then::stay && one.again.empty() && answer_next(one)) {
    }
    return send(one);
  }

  // Answers the next command, if all of it is there.
  bool answer_next(visitor& one) {
    resp::value value;
    const auto parsed = resp::parse(one.received, value);
    if (parsed.what == resp::parse_result::outcome::need_more) return false;
    command words;
    for (auto& item : value.items) words.push_back(std::move(item.text));
    if (parsed.what == resp::parse_result::outcome::malformed || words.empty()) {
      one.unsent += "-ERR Protocol error\r\n";
      one.after = then::close;
      return false;
    }
    one.received.erase(0, parsed.consumed);
    received.push_back(words);
    const auto wanted = answering ? answering(words) : std::nullopt;
    const auto said = wanted ? *wanted : usual_answer(words);
    one.unsent += said.bytes;
    one.again = said.again;
    one.after = said.after;
    return true;
  }

  bool send(visitor& one) const {
    constexpr std::size_t much = 64UL * 1024;
    while (!one.again.empty() && one.unsent.size() < much) one.unsent += one.again;
    if (!one.unsent.empty()) {
      const auto size = dribbles ? 1 : one.unsent.size();
      const auto sent = ::send(one.socket.get(), one.unsent.data(), size, MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      one.unsent.erase(0, static_cast<std::size_t>(sent));
    }
    if (!one.unsent.empty() || one.after == then::stay) return true;
    if (one.after == then::reset) net::close_hard(one.socket);
    return false;
  }

  net::descriptor listener_;

 public:
  const std::uint16_t port;
  service_thread thread{"fake-server", *this};  // last: it uses all of the above
};

fake_server::fake_server(script how) : state_(std::make_unique<state>(std::move(how))) {}
fake_server::~fake_server() = default;

std::uint16_t fake_server::port() const noexcept { return state_->port; }
std::string fake_server::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

void fake_server::on(script how) {
  state_->thread.run([&] { state_->answering = std::move(how); });
}

void fake_server::greet(reply with) {
  state_->thread.run([&] { state_->greeting = std::move(with); });
}

void fake_server::dribble() {
  state_->thread.run([&] { state_->dribbles = true; });
}

void fake_server::push(std::string_view bytes) {
  state_->thread.run([&] { state_->push(bytes); });
}

std::vector<fake_server::command> fake_server::received() const {
  return state_->thread.run([&] { return state_->received; });
}

std::size_t fake_server::received(std::string_view name) const {
  return state_->thread.run([&] {
    const auto has_name = [&](const command& words) { return words.at(0) == name; };
    return static_cast<std::size_t>(
        std::count_if(state_->received.begin(), state_->received.end(), has_name));
  });
}

std::size_t fake_server::connections() const {
  return state_->thread.run([&] { return state_->accepted; });
}

std::size_t fake_server::open_connections() const {
  return state_->thread.run([&] { return state_->visitors.size(); });
}

}  // namespace holdfast::support
