#include "doctor/access_check.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/clock.hpp"
#include "redis/connection/exchange.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

// Whether every address of the list is one of this machine alone. No list: the server takes all.
bool is_local(std::string_view addresses) {
  if (addresses.empty()) return false;
  while (!addresses.empty()) {
    const auto address = addresses.substr(0, addresses.find(' '));
    if (!address.empty() && !is_loopback(address)) return false;
    addresses.remove_prefix(std::min(addresses.size(), address.size() + 1));
  }
  return true;
}

// Tries it, without a login: the rights to look it up would be the right to read the password.
// Nothing when that failed for another reason.
std::optional<bool> lets_anybody_in(const redis_locks::master& server) {
  const auto& session = server.connection.settings();
  const auto where = server.where();
  const net::connect_limits limits{net::now() + session.connect_timeout, session.response_timeout,
                                   nullptr};
  redis::link over;
  if (!net::connect(where, limits, over.socket()).empty()) return std::nullopt;
  if (redis::secure(over, session.tls, where, limits)) return std::nullopt;
  redis::exchange talk(over, limits);
  talk.ask({"PING"});
  if (talk.run()) return std::nullopt;
  // Any other refusal means that the client is in, and lacks a right.
  return !talk.reply(0).is(resp::type::error) || !talk.reply(0).text.starts_with("NOAUTH");
}

class access_examination {
 public:
  access_examination(const asking& ask, std::vector<finding>& into) : ask_(ask), findings_(into) {}

  void run() {
    const std::string open = "no password is asked for";
    const auto port = setting("port");
    const auto bound = setting("bind");
    const auto guarded = setting("protected-mode");
    if (!port || !bound || !guarded) {
      return good(open + "; could not look at port, bind and protected-mode (needs +config|get)");
    }
    const auto tls_port = setting("tls-port").value_or("0");  // not there: built without TLS
    const bool is_reached = *port != "0" || tls_port != "0";
    if (!is_reached || is_local(*bound)) return good(open + ", on this machine only");
    const bool is_everywhere = bound->empty() || *bound == "*";
    const auto where = is_everywhere ? std::string("all addresses") : *bound;
    if (*guarded == "yes") {
      return good(open + " at " + where + ", but protected mode keeps other machines out");
    }
    if (*port == "0" && setting("tls-auth-clients") == "yes") {
      return good(open + " at " + where + ", but a certificate of its clients is");
    }
    findings_.push_back(
        {severity::warning, "access", open + " at " + where + ", and protected mode is off",
         "any program that reaches the server can break every lock: give the default user a "
         "password "
         "(requirepass, or ACL SETUSER), and each program a user of its own (holdfast acl)"});
  }

 private:
  void good(std::string detail) {
    findings_.push_back({severity::ok, "access", std::move(detail), ""});
  }

  // Nothing when the user may not look, or there is none.
  std::optional<std::string> setting(std::string_view name) const {
    return redis::read_setting(ask_({"CONFIG", "GET", name}));
  }

  const asking& ask_;
  std::vector<finding>& findings_;
};

}  // namespace

bool is_loopback(std::string_view address) {
  if (address.starts_with('-')) address.remove_prefix(1);  // "if there is such an interface"
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

void examine_access(runtime::client_core& core, std::uint16_t slot, const asking& ask,
                    std::vector<finding>& into) {
  if (core.url().starts_with("embedded:")) return;  // its socket is its user's alone
  const auto enters = lets_anybody_in(redis_locks::engine_of(core).at(slot));
  if (!enters) return;
  if (*enters) return access_examination(ask, into).run();
  into.push_back({severity::ok, "access", "a password is asked for", ""});
}

}  // namespace holdfast::doctor
