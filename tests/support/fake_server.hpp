// A server that answers what the test wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::support {

// Listens on 127.0.0.1. A client can log in to it: without a script it answers HELLO, AUTH, SELECT,
// CLIENT, PING and TIME, and anything else with an error.
// Thread safety: all members from any thread. Scripts run on the server's thread, one at a time.
class fake_server {
 public:
  using command = std::vector<std::string>;
  enum class then { stay, close, reset };
  struct reply {
    std::string bytes;
    then after = then::stay;
    std::string again{};  // sent after `bytes`, over and over, for as long as the client is there
  };
  // The answer; nullopt: as without a script.
  using script = std::function<std::optional<reply>(const command&)>;

  static reply answer(std::string bytes) { return {std::move(bytes)}; }
  static reply error(const std::string& text) { return {"-" + text + "\r\n"}; }
  static reply silence() { return {}; }
  static reply flood(std::string again, std::string first = {}) {
    return {std::move(first), then::stay, std::move(again)};
  }
  static reply hang_up(then how = then::close) { return {{}, how}; }

  explicit fake_server(script how = {});
  ~fake_server();

  std::uint16_t port() const noexcept;
  std::string url() const;  // redis://127.0.0.1:port

  void on(script how);                // from the next command on
  void greet(reply with);             // new connections, before they have said anything
  void push(std::string_view bytes);  // to everybody, now
  void dribble();                     // from now on each byte is sent by itself

  std::vector<command> received() const;              // since the beginning
  std::size_t received(std::string_view name) const;  // how many with this first word
  std::size_t connections() const;                    // accepted since the beginning
  std::size_t open_connections() const;

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace holdfast::support
