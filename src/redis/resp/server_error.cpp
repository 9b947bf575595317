#include "redis/resp/server_error.hpp"

#include <algorithm>
#include <iterator>

#include "base/printable.hpp"

namespace holdfast::resp {
namespace {

constexpr std::size_t longest_quote = 200;

constexpr bool passing = true;
constexpr bool lasting = false;

constexpr std::string_view is_cluster =
    "this address is a member of a cluster: use redis+cluster://host:port,...";
constexpr std::string_view one_slot = "all keys of a script must have one hash slot in a cluster";
constexpr std::string_view ask_again = "it may pass: ask again";
constexpr std::string_view give_rights =
    "give this user the rights that 'holdfast acl PATTERN --kind KIND' prints (ACL SETUSER; with "
    "--tenant for a client of a tenant); status, ls, watch, semaphore, release and doctor need the "
    "kind operator; docs/security.md says what locks of other libraries need, and ACL LOG shows "
    "what was refused";
constexpr std::string_view check_login = "check the user name and password";
constexpr std::string_view no_password_there = "give no password, or set one at the server";
constexpr std::string_view newer_server =
    "use Redis 6.2 or later or Valkey 8.0 or later, and do not rename its commands";
constexpr std::string_view find_master = "give the address of the master";

// Codes are whole words, sentences begin as given. "ERR " and what a script puts around an error of
// one of its commands are taken off before.
constexpr server_error_rule rules[] = {
    {"NOSCRIPT", errc::server_error, passing, "send the script's text"},
    {"OOM", errc::out_of_memory, passing, "free memory or raise the server's maxmemory"},
    {"READONLY", errc::read_only, passing, find_master},
    {"MASTERDOWN", errc::read_only, passing, find_master},
    {"LOADING", errc::loading, passing, ask_again},
    {"BUSY", errc::server_busy, passing, "wait for the script that runs there, or SCRIPT KILL it"},
    {"UNKILLABLE", errc::server_busy, passing, "wait for the script that runs there"},
    {"TRYAGAIN", errc::server_busy, passing,
     "the hash slot of these keys is being moved to another node of the cluster: ask again when "
     "that "
     "is over, and see 'redis-cli --cluster check' if it does not end"},
    {"max number of clients", errc::server_busy, passing,
     "close connections or raise the server's maxclients"},
    {"MISCONF", errc::misconfigured, passing,
     "make room on the server's disk and look in its log for why it cannot save"},
    {"NOREPLICAS", errc::no_replicas, passing,
     "bring replicas back or lower the server's min-replicas-to-write"},
    {"WRONGTYPE", errc::foreign_key, lasting,
     "choose another lock name, or see with 'holdfast status' what that key is"},
    {"NOAUTH", errc::authentication, lasting, "give a user name and password"},
    {"WRONGPASS", errc::authentication, lasting, check_login},
    {"invalid password", errc::authentication, lasting, check_login},
    {"AUTH <password> called without", errc::authentication, lasting, no_password_there},
    {"Client sent AUTH, but no password is set", errc::authentication, lasting, no_password_there},
    {"DENIED", errc::permission_denied, lasting,
     "set a password at the server or connect from its own machine"},
    {"NOPERM", errc::permission_denied, lasting, give_rights},
    {"The user executing the script can't", errc::permission_denied, lasting, give_rights},
    {"ACL failure in script", errc::permission_denied, lasting, give_rights},
    {"CLUSTERDOWN no node of the URL knows a master", errc::unavailable, passing,
     "these nodes have left their cluster (CLUSTER RESET), or have not joined one yet: name others "
     "in the URL, and look at CLUSTER NODES"},
    {"CLUSTERDOWN", errc::unavailable, passing,
     "the cluster has no master for these keys just now: ask again, and look at CLUSTER INFO"},
    {"MOVED", errc::unsupported, lasting, is_cluster},
    {"ASK", errc::unsupported, lasting, is_cluster},
    {"This instance has cluster support disabled", errc::unsupported, lasting,
     "it is no member of a cluster: use redis://host:port"},
    {"CROSSSLOT", errc::unsupported, lasting, one_slot},
    {"SELECT is not allowed in cluster mode", errc::unsupported, lasting, is_cluster},
    {"Script attempted to access a non local key", errc::unsupported, lasting, one_slot},
    {"Script attempted to access keys that do not hash", errc::unsupported, lasting, one_slot},
    {"DB index is out of range", errc::invalid_url, lasting,
     "name a smaller database number or raise the server's databases"},
    {"NOPROTO", errc::unsupported, lasting, newer_server},
    {"unknown command", errc::unsupported, lasting, newer_server},
    {"Unknown Redis command called from", errc::unsupported, lasting, newer_server},
};

constexpr server_error_rule unlisted{"", errc::server_error, lasting,
                                     "look for it in the server's documentation and log"};

bool fits(std::string_view text, const server_error_rule& rule) noexcept {
  if (!text.starts_with(rule.begins)) return false;
  const bool is_code = rule.begins.find(' ') == rule.begins.npos;
  return !is_code || text.size() == rule.begins.size() || text[rule.begins.size()] == ' ';
}

bool remove_prefix(std::string_view& text, std::string_view prefix) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// The text after the first `mark`; nothing when there is none.
std::string_view after(std::string_view text, std::string_view mark) noexcept {
  const std::size_t at = text.find(mark);
  return at == text.npos ? std::string_view{} : text.substr(at + mark.size());
}

// Before Redis 7 an error inside a script came as "ERR Error running script (call to f_<sha1>):
// @user_script:1: @user_script: 1: -OOM command not allowed ...", and one that the script caught
// and returned as "@user_script: 1: ...".
std::string_view core_of(std::string_view text) noexcept {
  remove_prefix(text, "ERR ");
  if (text.starts_with("Error running script (call to ")) text = after(text, "): ");
  while (remove_prefix(text, "@user_script:")) text = after(text, ": ");
  remove_prefix(text, "-");
  remove_prefix(text, "ERR ");
  return text;
}

bool is_hex(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Some servers repeat our arguments (a password sent with HELLO, a request id), so those are cut
// off, and of every long hexadecimal number only the beginning is shown.
std::string without_secrets(std::string_view text) {
  constexpr std::size_t shown = 8, id_digits = 32;
  text = text.substr(0, std::min(text.find(", with args beginning with"), 4 * longest_quote));
  std::string safe;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::find_if_not(text.begin() + at, text.end(), is_hex) - text.begin();
    const std::size_t digits = static_cast<std::size_t>(end) - at;
    safe.append(text.substr(at, digits < id_digits ? std::max<std::size_t>(digits, 1) : shown));
    at += std::max<std::size_t>(digits, 1);
  }
  return safe;
}

}  // namespace

std::span<const server_error_rule> server_error_rules() noexcept { return rules; }

server_error classify(std::string_view text) {
  const std::string_view core = core_of(text);
  const auto* found = std::find_if(std::begin(rules), std::end(rules),
                                   [&](const server_error_rule& rule) { return fits(core, rule); });
  const server_error_rule& rule = found == std::end(rules) ? unlisted : *found;
  const std::string quote = printable(without_secrets(text), longest_quote);
  return {.code = rule.code,
          .passing = rule.passing,
          .no_script = rule.begins == "NOSCRIPT",
          .detail = "the server said \"" + quote + "\"; " + std::string{rule.advice}};
}

}  // namespace holdfast::resp
