#include "redis/connection/exchange.hpp"

#include <poll.h>

#include <utility>

#include "redis/resp/server_error.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::redis {
namespace {

void read_hello(const resp::value& reply, session_facts& facts) {
  for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2) {
    const auto& key = reply.items[i].text;
    const auto& said = reply.items[i + 1];
    if (key == "server") facts.server = said.text;
    if (key == "version") facts.version = said.text;
    if (key == "proto") facts.resp3 = said.number == 3;
    if (key == "role") facts.role = said.text;
    if (key == "mode") facts.is_sentinel = said.text == "sentinel";
  }
}

// Whether the refusal is of HELLO alone: of the protocol, or of a command that a proxy or an access
// list does not know. They have many words for it.
bool has_no_hello(std::string_view said) {
  if (said.starts_with("NOPERM")) return true;
  const auto error = resp::classify(said);
  return !error.passing && error.code != errc::authentication &&
         error.code != errc::permission_denied;
}

std::optional<breakdown> log_in_without_hello(exchange& talk, const credentials& login) {
  if (login.username.empty()) {
    talk.ask({"AUTH", login.password});
  } else {
    talk.ask({"AUTH", login.username, login.password});
  }
  if (auto broken = talk.run()) return broken;
  return refusal(talk.reply(0));
}

}  // namespace

void exchange::ask(std::initializer_list<std::string_view> words) {
  resp::writer out(bytes_);
  out.command(words.size());
  for (const auto word : words) out.arg(word);
  ++expected_;
}

std::optional<breakdown> exchange::run() {
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
    const bool has_all = replies_.size() >= expected_;
    if (outcome == link::outcome::data && !has_all && net::is_over(limits_)) return endless();
  }
  bytes_.clear();
  expected_ = 0;
  answered_ = true;
  return std::nullopt;
}

std::optional<breakdown> exchange::closed() {
  // The server's last words, for example that it has no free connection, explain the end.
  if (replies_.size() > 0 && replies_[0].is(resp::type::error)) {
    const auto error = resp::classify(replies_[0].text);
    return breakdown{error.code, error.detail};
  }
  if (link_.reason() != errc::unavailable) return breakdown{link_.reason(), link_.problem()};
  may_want_tls_ = !answered_ && link_.tls() == nullptr;
  const auto hint =
      std::string("; if it expects TLS there, ") + net::advice_to_speak_tls(link_.peer()) +
      "; if it is a proxy that does not know HELLO, append ?protocol=2 to the address";
  return breakdown{errc::unavailable,
                   link_.problem() + " while logging in" + (may_want_tls_ ? hint : "")};
}

std::optional<breakdown> exchange::silence() {
  return breakdown{errc::unavailable, "the server accepted the connection but does not answer"};
}

std::optional<breakdown> exchange::endless() {
  return breakdown{errc::unavailable, "the server sends something, but has not answered in time"};
}

std::optional<breakdown> secure(link& over, const std::optional<tls_options>& tls,
                                const net::endpoint& where, const net::connect_limits& limits) {
  if (!tls) return std::nullopt;
  const auto* const tcp = std::get_if<net::tcp_endpoint>(&where);
  std::unique_ptr<net::tls_session> session;
  if (auto broken = net::open_tls(*tls, tcp != nullptr ? tcp->host : std::string{}, over.socket(),
                                  limits, session, over.peer())) {
    return breakdown{broken->code, std::move(broken->detail)};
  }
  over.secure(std::move(session));
  return std::nullopt;
}

std::optional<breakdown> refusal(const resp::value& reply) {
  if (!reply.is(resp::type::error)) return std::nullopt;
  auto error = resp::classify(reply.text);
  return breakdown{error.code, std::move(error.detail)};
}

bool speaks_tls(const net::endpoint& where, const net::connect_limits& limits) {
  net::descriptor socket;
  if (!net::connect(where, limits, socket).empty()) return false;
  const auto* const tcp = std::get_if<net::tcp_endpoint>(&where);
  std::unique_ptr<net::tls_session> session;
  const auto broken =
      net::open_tls({.insecure_accept_any_certificate = true},
                    tcp != nullptr ? tcp->host : std::string{}, socket, limits, session);
  // Only those who speak it ask for a certificate, or for another version.
  return !broken || broken->code == errc::authentication || broken->code == errc::untrusted_server;
}

std::optional<breakdown> log_in(exchange& talk, const net::endpoint& where,
                                const credentials& login, session_facts& facts) {
  const std::string_view user =
      login.username.empty() ? std::string_view{"default"} : std::string_view{login.username};
  const bool anonymous = login.username.empty() && login.password.empty();
  if (login.old_protocol) return anonymous ? std::nullopt : log_in_without_hello(talk, login);
  if (anonymous) {
    talk.ask({"HELLO", "3"});
  } else {
    talk.ask({"HELLO", "3", "AUTH", user, login.password});
  }
  if (auto broken = talk.run()) {
    if (talk.may_want_tls()) broken->may_speak_tls = where;
    return broken;
  }
  auto refused = refusal(talk.reply(0));
  if (!refused) return read_hello(talk.reply(0), facts), std::nullopt;
  if (!has_no_hello(talk.reply(0).text)) return refused;
  return anonymous ? std::nullopt : log_in_without_hello(talk, login);
}

}  // namespace holdfast::redis
