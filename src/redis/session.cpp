#include "redis/session.hpp"

#include <poll.h>

#include <vector>

#include "net/clock.hpp"
#include "redis/link.hpp"
#include "redis/server_reply.hpp"
#include "resp/server_error.hpp"

namespace holdfast::redis {
namespace {

// A few commands in one write, and their answers in one wait.
class exchange {
 public:
  exchange(link& over, const net::connect_limits& limits) : link_(over), limits_(limits) {}

  void ask(std::initializer_list<std::string_view> words) {
    resp::writer out(bytes_);
    out.command(words.size());
    for (const auto word : words) out.arg(word);
    ++expected_;
  }

  // Empty, or what broke.
  std::optional<breakdown> run() {
    replies_.clear();
    std::size_t offset = 0;
    while (offset < bytes_.size()) {
      if (link_.send(bytes_, offset) == link::outcome::closed) break;  // the answer says why
      if (offset < bytes_.size() && !ready(POLLOUT)) return silence();
    }
    while (replies_.size() < expected_) {
      const auto outcome = link_.receive(replies_);
      if (outcome == link::outcome::closed) return closed();
      if (outcome == link::outcome::would_block && !ready(POLLIN)) return silence();
    }
    bytes_.clear();
    expected_ = 0;
    return std::nullopt;
  }

  resp::value& reply(std::size_t i) { return replies_[i]; }

 private:
  bool ready(short events) { return net::wait_ready(link_.fd(), events, limits_); }

  std::optional<breakdown> closed() {
    // The server's last words, for example that it has no free connection, explain the end.
    if (replies_.size() > 0 && replies_[0].is(resp::type::error)) {
      const auto error = resp::classify(replies_[0].text);
      return breakdown{error.code, error.detail};
    }
    if (!link_.speaks_redis()) return breakdown{errc::not_redis, link_.problem()};
    return breakdown{errc::unavailable, link_.problem() + " while logging in"};
  }

  static std::optional<breakdown> silence() {
    return breakdown{errc::unavailable, "the server accepted the connection but does not answer"};
  }

  link& link_;
  const net::connect_limits& limits_;
  std::string bytes_;
  std::size_t expected_ = 0;
  reply_batch replies_;
};

std::optional<breakdown> refusal(const resp::value& reply) {
  if (!reply.is(resp::type::error)) return std::nullopt;
  auto error = resp::classify(reply.text);
  return breakdown{error.code, std::move(error.detail)};
}

void read_hello(const resp::value& reply, session_facts& facts) {
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    const auto& key = reply.items[i].text;
    const auto& said = reply.items[i + 1];
    if (key == "server") facts.server = said.text;
    if (key == "version") facts.version = said.text;
    if (key == "proto") facts.resp3 = said.number == 3;
  }
}

// RESP3 where the server has it. A server, proxy or access list without HELLO gets RESP2 and AUTH.
std::optional<breakdown> log_in(exchange& talk, const credentials& login, session_facts& facts) {
  const std::string_view user =
      login.username.empty() ? std::string_view{"default"} : std::string_view{login.username};
  const bool anonymous = login.username.empty() && login.password.empty();
  if (anonymous) {
    talk.ask({"HELLO", "3"});
  } else {
    talk.ask({"HELLO", "3", "AUTH", user, login.password});
  }
  if (auto broken = talk.run()) return broken;
  auto refused = refusal(talk.reply(0));
  if (!refused) return read_hello(talk.reply(0), facts), std::nullopt;
  const std::string_view said = talk.reply(0).text;
  const bool no_hello = said.starts_with("NOPROTO") || said.starts_with("NOPERM") ||
                        said.starts_with("ERR unknown command");
  if (!no_hello) return refused;
  if (anonymous) return std::nullopt;
  if (login.username.empty()) {
    talk.ask({"AUTH", login.password});
  } else {
    talk.ask({"AUTH", user, login.password});
  }
  if (auto broken = talk.run()) return broken;
  return refusal(talk.reply(0));
}

// Names the connection, selects the database and asks for the time, in one trip. Names are for
// people: a server that does not know or allow them is good enough.
std::optional<breakdown> prepare(exchange& talk, const session_settings& settings,
                                 session_facts& facts) {
  const auto database = std::to_string(settings.database);
  talk.ask({"TIME"});
  talk.ask({"SELECT", database});
  talk.ask({"CLIENT", "SETNAME", settings.client_name});
  talk.ask({"CLIENT", "SETINFO", "LIB-NAME", "holdfast"});
  // Loaded now, no command has to be sent twice, which would put it behind later ones. Where that
  // is not allowed, the scripts are sent as text when they are first needed.
  for (const auto* script : settings.scripts) talk.ask({"SCRIPT", "LOAD", script->text});
  // Last, since what is asked after it may be answered by a message. With RESP2 a connection that
  // listens cannot ask: there is no channel then.
  const bool listens = facts.resp3 && !settings.channel.empty();
  if (listens) talk.ask({"SUBSCRIBE", settings.channel});
  facts.asked_at = net::now();
  if (auto broken = talk.run()) return broken;
  facts.answered_at = net::now();
  facts.subscribed = listens && talk.reply(4 + settings.scripts.size()).is(resp::type::push);
  if (auto refused = refusal(talk.reply(0))) return refused;
  const auto time = read_time(talk.reply(0));
  if (!time) return breakdown{errc::not_redis, "the server's answer to TIME is not a time"};
  facts.time = *time;
  const bool selects = settings.database != 0;
  return selects ? refusal(talk.reply(1)) : std::nullopt;
}

}  // namespace

std::optional<breakdown> open_session(const session_settings& settings, const net::wake_up* cancel,
                                      net::descriptor& socket, session_facts& facts) {
  const net::connect_limits limits{net::now() + settings.connect_timeout, settings.response_timeout,
                                   cancel};
  link over;
  if (auto problem = net::connect(settings.where, limits, over.socket()); !problem.empty()) {
    return breakdown{errc::unavailable, std::move(problem), false};
  }
  exchange talk(over, limits);
  auto broken = log_in(talk, settings.login, facts);
  if (!broken) broken = prepare(talk, settings, facts);
  if (broken) {
    over.close();
    return broken;
  }
  socket.reset(over.socket().release());
  return std::nullopt;
}

}  // namespace holdfast::redis
