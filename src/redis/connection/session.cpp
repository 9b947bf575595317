#include "redis/connection/session.hpp"

#include <string>

#include "net/clock.hpp"
#include "net/resolve.hpp"
#include "redis/connection/exchange.hpp"
#include "redis/connection/login_source.hpp"
#include "redis/connection/password_file.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/connection/slot_map.hpp"

namespace holdfast::redis {
namespace {

// If you change the commands here, in log_in() or of a ping, change session_commands() or
// cluster_commands() as well. HELLO and AUTH are not in them: they need no right.
//
// Names the connection, selects the database and asks for the time, in one trip. Names are for
// people: a server that does not know or allow them is good enough.
std::optional<breakdown> prepare(exchange& talk, const session_settings& settings,
                                 session_facts& facts) {
  const auto database = std::to_string(settings.database);
  talk.ask({"TIME"});
  talk.ask({"SELECT", database});
  talk.ask({"CLIENT", "SETNAME", settings.client_name});
  talk.ask({"CLIENT", "SETINFO", "LIB-NAME", "holdfast"});
  talk.ask({"INFO", "server"});
  talk.ask({"INFO", "replication"});
  // Loaded now, no command has to be sent twice, which would put it behind later ones. Where that
  // is not allowed, the scripts are sent as text when they are first needed.
  for (const auto* script : settings.scripts) {
    talk.ask({"SCRIPT", "LOAD", script->form(settings.asks_slots).text});
  }
  const std::size_t more = 6 + settings.scripts.size();
  if (settings.asks_slots) {
    talk.ask({"CLUSTER", "SLOTS"});
    talk.ask({"CLUSTER", "MYID"});
  }
  // Last, since what is asked after it may be answered by a message. With RESP2 a connection that
  // listens cannot ask: there is no channel then.
  const bool listens = facts.resp3 && !settings.channel.empty();
  if (listens) talk.ask({"SUBSCRIBE", settings.channel});
  facts.asked_at = net::now();
  if (auto broken = talk.run()) return broken;
  facts.answered_at = net::now();
  facts.subscribed =
      listens && talk.reply(more + (settings.asks_slots ? 2 : 0)).is(resp::type::push);
  if (facts.is_sentinel || info_field(talk.reply(4).text, "redis_mode") == "sentinel") {
    return breakdown{errc::invalid_url,
                     "it is a sentinel, not a server: write redis+sentinel://HOST:PORT/SERVICE, "
                     "with the name under which it watches the master"};
  }
  if (auto refused = refusal(talk.reply(0))) return refused;
  const auto time = read_time(talk.reply(0));
  if (!time) return breakdown{errc::not_redis, "the server's answer to TIME is not a time"};
  facts.time = *time;
  facts.identity = info_field(talk.reply(4).text, "run_id");
  if (!facts.identity.empty()) facts.identity += info_field(talk.reply(5).text, "master_replid");
  if (facts.role.empty()) facts.role = info_field(talk.reply(5).text, "role");
  if (settings.asks_slots) {
    if (auto refused = refusal(talk.reply(more))) return refused;
    facts.slots = std::move(talk.reply(more));
    if (talk.reply(more + 1).is_text()) facts.node_id = std::move(talk.reply(more + 1).text);
  }
  const bool selects = settings.database != 0;
  return selects ? refusal(talk.reply(1)) : std::nullopt;
}

// What the server says to the login is what the source must know: a certificate of ours that it
// refuses says nothing of the login.
std::optional<breakdown> log_in_and_tell(exchange& talk, const net::endpoint& where,
                                         const credentials& login, session_facts& facts) {
  auto broken = log_in(talk, where, login, facts);
  if (login.source == nullptr) return broken;
  facts.login_number = login.number;
  if (!broken) {
    login.source->accepted(login.number);
  } else if (broken->code == errc::authentication) {
    login.source->refused(login.number);
  }
  return broken;
}

std::optional<breakdown> open_session(const session_settings& settings, const credentials& login,
                                      const net::endpoint& where, const net::connect_limits& limits,
                                      link& into, session_facts& facts) {
  link over;
  if (auto problem = net::connect(where, limits, over.socket()); !problem.empty()) {
    return breakdown{errc::unavailable, std::move(problem), false};
  }
  exchange talk(over, limits);
  auto broken = secure(over, settings.tls, where, limits);
  if (!broken) broken = log_in_and_tell(talk, where, login, facts);
  if (!broken) broken = prepare(talk, settings, facts);
  if (broken) {
    over.close();
    return broken;
  }
  facts.address = net::to_string(where);
  if (const auto* tcp = std::get_if<net::tcp_endpoint>(&where)) facts.where = *tcp;
  if (over.tls() != nullptr) facts.tls = over.tls()->description();
  into.take(over);
  return std::nullopt;
}

// A node that has left its cluster, or has not come to one yet, lets us in and knows of nobody. A
// replica lets us in as well.
bool is_looked_for(const session_settings& settings, const session_facts& facts) {
  if (!settings.asks_slots) return !facts.is_replica();
  const auto ranges = read_slots(facts.slots, facts.where);
  return ranges && !ranges->empty();
}

// The places to try, one after the other: all seeds of a cluster, or all addresses of a name, which
// may lead to each server of a deployment. Returns why there is none.
std::string find_places(const session_settings& settings, const net::connect_limits& limits,
                        std::vector<net::endpoint>& into) {
  if (!settings.seeds.empty()) into.assign(settings.seeds.begin(), settings.seeds.end());
  if (!into.empty()) return {};
  if (const auto* const name = std::get_if<net::tcp_endpoint>(&settings.where)) {
    return net::take_apart(*name, limits, into);
  }
  into.push_back(settings.where);
  return {};
}

std::optional<breakdown> find_login(credentials& login, monotonic_time deadline) {
  return login.source != nullptr ? login.source->find(deadline, login) : read_password(login);
}

std::optional<breakdown> open_by(const credentials& login, const session_settings& settings,
                                 monotonic_time started, const net::wake_up* cancel, link& into,
                                 session_facts& facts) {
  const auto within = [&](milliseconds patience) {
    return net::connect_limits{started + patience, settings.response_timeout, cancel};
  };
  std::vector<net::endpoint> places;
  auto unknown = find_places(settings, within(settings.connect_timeout), places);
  if (places.empty()) return breakdown{errc::unavailable, std::move(unknown), false};
  // The answer of one server explains more than the silence of others.
  std::optional<breakdown> worst;
  link spare;
  session_facts facts_of_spare;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto patience = settings.connect_timeout * (i + 1) / places.size();
    auto broken = open_session(settings, login, places[i], within(patience), into, facts);
    if (!broken && is_looked_for(settings, facts)) return std::nullopt;
    if (!broken) {
      spare.take(into);
      facts_of_spare = std::move(facts);
    } else if (!worst || broken->reached || !worst->reached) {
      worst = std::move(broken);
    }
    facts = {};
  }
  if (facts_of_spare.address.empty()) return worst;
  into.take(spare);
  facts = std::move(facts_of_spare);
  return std::nullopt;
}

}  // namespace

std::span<const session_command> session_commands() noexcept {
  static constexpr session_command commands[] = {
      {"time"},
      {"select"},
      {"evalsha"},
      {"eval"},
      {"info"},  // without it, nobody sees that another server answers now, or that it is a replica
      {"subscribe", false},  // without it, waiters ask often
      {"script|load", false},
      {"client|setname", false},
      {"client|setinfo", false},  // not before Redis 7.2
  };
  return commands;
}

std::span<const session_command> cluster_commands() noexcept {
  static constexpr session_command commands[] = {
      {"cluster|slots"},       {"asking"},
      {"cluster|myid", false},  // without it, there may be one connection more
      {"ssubscribe", false},    // and without these, messages come through every node
      {"sunsubscribe", false}, {"spublish", false},
  };
  return commands;
}

std::optional<breakdown> open_session(const session_settings& settings, const net::wake_up* cancel,
                                      link& into, session_facts& facts) {
  const auto started = net::now();
  const auto deadline = started + settings.connect_timeout;
  auto login = settings.login;
  if (auto none = find_login(login, deadline)) return none;
  auto broken = open_by(login, settings, started, cancel, into, facts);
  if (!broken || broken->code != errc::authentication || login.source == nullptr) return broken;
  // A token may have ended unseen: revoked, or while this machine was suspended.
  if (login.source->replace(deadline, login)) {
    broken = open_by(login, settings, started, cancel, into, facts);
  }
  if (broken && !login.trouble.empty()) broken->detail += "; " + login.trouble;
  return broken;
}

}  // namespace holdfast::redis
