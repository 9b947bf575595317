#include "support/private_server.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <holdfast/errc.hpp>

#include "embedded/directories.hpp"
#include "embedded/find_server.hpp"
#include "embedded/server_process.hpp"
#include "support/eventually.hpp"
#include "support/forked.hpp"
#include "support/listener.hpp"
#include "support/raw_connection.hpp"
#include "support/test_outcome.hpp"

namespace holdfast::support {
namespace {

// With TLS where all tests shall run so.
server_settings as_the_environment_says(server_settings settings) {
#ifdef HOLDFAST_WITH_TLS
  const char* const wanted = std::getenv("HOLDFAST_TEST_TLS");
  if (wanted != nullptr && *wanted == '1' && !settings.tls) {
    static const auto own = trusted_authority().issue();
    settings.tls = server_tls{.own = own, .authority = trusted_authority().file()};
    settings.url_by_tls = true;
  }
#endif
  return settings;
}

std::vector<std::string> arguments_for(const server_tls& tls, std::uint16_t port) {
  return {"--tls-port",         std::to_string(port),
          "--tls-cert-file",    tls.own.certificate,
          "--tls-key-file",     tls.own.key,
          "--tls-ca-cert-file", tls.authority,
          "--tls-auth-clients", tls.demands_client_certificate ? "yes" : "no"};
}

constexpr const char* password = "hunter2-of-the-suite";

// The user of HOLDFAST_TEST_ACL as the server's configuration has it: its name, and the output of
// `holdfast acl` behind it, with a password. Empty: everybody may do everything.
std::vector<std::string> restricted_user() {
  const char* const line = std::getenv("HOLDFAST_TEST_ACL");
  if (line == nullptr || *line == '\0') return {};
  std::istringstream text{line};
  std::vector<std::string> words{std::istream_iterator<std::string>{text}, {}};
  if (words.size() < 5 || words[0] != "ACL" || words[1] != "SETUSER") {
    throw std::runtime_error("HOLDFAST_TEST_ACL must be what `holdfast acl` prints");
  }
  words.erase(words.begin(), words.begin() + 2);
  for (auto& word : words) {
    if (word.starts_with('#')) word = std::string(">") + password;
  }
  return words;
}

std::string field(const resp::value& entry, std::string_view name) {
  for (std::size_t i = 0; i + 1 < entry.items.size(); i += 2) {
    if (entry.items[i].text == name) return entry.items[i + 1].text;
  }
  return {};
}

// Commands that every connection tries and can do without.
bool may_be_refused(const std::string& what) {
  static const char* const tried[] = {"client|setname",  "client|setinfo", "script|load",
                                      "client|tracking", "client|caching", "config|get",
                                      "cluster|myid",    "cluster|nodes"};
  return std::find(std::begin(tried), std::end(tried), what) != std::end(tried);
}

}  // namespace

std::int64_t number_behind(const std::string& label, const std::string& said) {
  const auto at = said.find(label);
  return at == said.npos ? 0 : std::stoll(said.substr(at + label.size()));
}

namespace {

bool is_topology(std::string_view which) {
  const char* const topology = std::getenv("HOLDFAST_TEST_TOPOLOGY");
  return topology != nullptr && topology == which;
}

}  // namespace

bool over_cluster() { return is_topology("cluster"); }

bool in_memory() { return is_topology("memory"); }

class private_server::state {
 public:
  explicit state(const server_settings& settings)
      : host(settings.address),
        is_cluster(over_cluster() && std::ranges::find(settings.arguments, "--cluster-enabled") ==
                                         settings.arguments.end()) {
    // Somebody else may take the free port before the server does.
    for (int attempts_left = settings.tcp || settings.tls || is_cluster ? 5 : 1; !process;
         --attempts_left) {
      try {
        start(settings);
      } catch (const failure&) {
        process.reset();
        if (attempts_left == 1) throw;
      }
    }
    if (is_cluster) become_cluster();
    url = in_memory()           ? "memory:" + process->socket().string()
          : settings.url_by_tls ? tls_url()
          : is_cluster          ? cluster_url()
                                : "unix://" + login + process->socket().string();
  }

  ~state() {
    if (!login.empty()) complain_of_refusals();
    if (test_has_failed()) std::fprintf(stderr, "server log:\n%s\n", log().c_str());
  }

  std::string cluster_url() const {
    return "redis+cluster://" + login + "127.0.0.1:" + std::to_string(port);
  }
  std::string tcp_url() const {
    return is_cluster ? cluster_url() : "redis://" + login + host + ":" + std::to_string(port);
  }
  std::string tls_url() const {
    return (is_cluster ? "rediss+cluster://127.0.0.1:" : "rediss://127.0.0.1:") +
           std::to_string(tls_port);
  }

  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(directory->path() / "server.log").rdbuf();
    return text.str();
  }

  const std::string host;
  const bool is_cluster;
  // Another one for each attempt: what supervises a server that did not start removes its own.
  std::optional<embedded::private_directory> directory;
  std::optional<embedded::server_process> process;
  std::uint16_t port = 0;
  std::uint16_t tls_port = 0;
  std::string login;  // "user:password@"; empty: as everybody
  std::string url;

  // A node that has all slots serves them some seconds after it was started.
  void become_cluster() {
    raw_connection node(net::unix_endpoint{process->socket().string()});
    node.command({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    await_cluster();
  }
  void await_cluster() const {
    if (!is_cluster) return;
    raw_connection node(net::unix_endpoint{process->socket().string()});
    const auto serves = [&] {
      return node.command({"CLUSTER", "INFO"}).text.find("cluster_state:ok") != std::string::npos;
    };
    if (!eventually(serves)) throw std::runtime_error("the node does not serve its slots");
  }

 private:
  // The suite runs as a user with the rights that the library says it needs: none of them, and
  // nothing that the tests themselves do, may have been refused.
  void complain_of_refusals() const noexcept try {
    raw_connection admin(net::unix_endpoint{process->socket().string()}, milliseconds{2000});
    for (const auto& entry : admin.command({"ACL", "LOG", "100"}).items) {
      if (!login.starts_with(field(entry, "username") + ":")) continue;
      const auto what = field(entry, "object");
      if (!may_be_refused(what)) {
        fail_test("refused: " + field(entry, "reason") + " " + what);
      }
    }
  } catch (const std::exception&) {
    // A test has killed or frozen it.
  }

  void start(const server_settings& settings) {
    port = settings.tcp || is_cluster ? free_port() : std::uint16_t{0};
    std::vector<std::string> arguments{"--port", std::to_string(port), "--bind", settings.address};
    if (settings.address != server_settings{}.address) {
      arguments.insert(arguments.end(), {"--protected-mode", "no"});
    }
    if (settings.tls) {
      tls_port = free_port();
      const auto more = arguments_for(*settings.tls, tls_port);
      arguments.insert(arguments.end(), more.begin(), more.end());
    }
    if (const auto user = restricted_user(); !user.empty()) {
      login = user.front() + ":" + password + "@";
      arguments.push_back("--user");
      arguments.insert(arguments.end(), user.begin(), user.end());
    }
    arguments.insert(arguments.end(), settings.arguments.begin(), settings.arguments.end());
    if (is_cluster) {
      for (const auto& word : {std::string("--cluster-enabled"), std::string("yes"),
                               std::string("--cluster-port"), std::to_string(free_port())}) {
        arguments.push_back(word);
      }
      // Redis 7.0 tells its ports with TLS only so.
      if (settings.tls) arguments.insert(arguments.end(), {"--tls-cluster", "yes"});
    }
    directory.emplace();
    process.emplace(embedded::server_order{
        .program = embedded::find_server(settings.program, embedded::program_folders()),
        .directory = directory->opened(),
        .arguments = std::move(arguments),
        .environment = settings.environment,
        .start_timeout = generous});
    process->await_answer();
  }
};

private_server::private_server(const server_settings& settings)
    : state_(std::make_unique<state>(as_the_environment_says(settings))) {}
private_server::~private_server() = default;
private_server::private_server(private_server&&) noexcept = default;
private_server& private_server::operator=(private_server&&) noexcept = default;

const std::string& private_server::url() const { return state_->url; }
std::string private_server::socket() const { return state_->process->socket().string(); }
std::uint16_t private_server::port() const { return state_->port; }
std::uint16_t private_server::tls_port() const { return state_->tls_port; }
std::string private_server::tls_url() const { return state_->tls_url(); }
int private_server::pid() const { return state_->process->pid(); }
std::string private_server::log() const { return state_->log(); }

std::string private_server::tcp_url() const { return state_->tcp_url(); }

void private_server::freeze() { support::freeze(pid()); }
void private_server::thaw() { ::kill(pid(), SIGCONT); }

void private_server::restart() {
  state_->process->restart();
  state_->await_cluster();
}

void private_server::kill9() {
  ::kill(pid(), SIGKILL);
  if (!eventually([this] { return is_gone(pid()); })) throw std::runtime_error("it does not die");
}

resp::value private_server::command(const std::vector<std::string>& words) const {
  return raw_connection(net::unix_endpoint{socket()}).command(words);
}

std::int64_t private_server::calls(const std::string& command_name) const {
  const auto told = command({"INFO", "commandstats"}).text;
  const auto of = [&](const std::string& one) {
    return number_behind("cmdstat_" + one + ":calls=", told);
  };
  // note_held.lua alone calls this one, once.
  const auto notes = command_name == "evalsha" ? of("zrevrangebyscore") : 0;
  return of(command_name) - notes;
}

std::int64_t private_server::commands_processed() const {
  return number_behind("total_commands_processed:", command({"INFO", "stats"}).text);
}

}  // namespace holdfast::support
