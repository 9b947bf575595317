#include <holdfast/client.hpp>

#include <cerrno>
#include <utility>

#include "api/checks.hpp"
#include "api/native_locks.hpp"
#include "api/private_server.hpp"
#include "api/sentinel_link.hpp"
#include "base/uncancelled.hpp"
#include "memory/memory_engine.hpp"
#include "redis/connection/login_source.hpp"
#include "redis/connection/url.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/client_core.hpp"

namespace holdfast {
namespace {

// Behind it stands which of the tables of this process is meant, or nothing.
constexpr std::string_view in_memory = "memory:";

// CLIENT SETNAME refuses spaces, line ends and control bytes.
std::string connection_name(const std::string& wanted) {
  std::string name = wanted.empty() ? program_invocation_short_name : wanted;
  for (char& c : name) {
    if (c <= ' ' || c > '~') c = '_';
  }
  return name;
}

redis::session_settings session_of(const redis::server_url& url, const client_options& options) {
  redis::session_settings session;
  session.where = url.where;
  if (url.tls) session.tls = options.tls;
  session.seeds = url.cluster_nodes;
  session.asks_slots = !url.cluster_nodes.empty();
  session.login = url.login;
  if (!options.username.empty()) session.login.username = options.username;
  if (!options.password.empty()) session.login.password = options.password;
  session.login.password_file = options.password_file;
  if (options.credentials) {
    session.login.source = std::make_shared<redis::login_source>(options.credentials);
  }
  session.database = url.database;
  session.sentinels = url.sentinels;
  if (session.sentinels) api::set_up_link(*session.sentinels, session.tls, options);
  session.client_name = connection_name(options.name);
  session.connect_timeout = options.connect_timeout;
  session.response_timeout = options.response_timeout;
  for (const auto* script : dialects::login_scripts()) session.scripts.push_back(script);
  return session;
}

}  // namespace

// No default argument: see decision 20.
client::client(std::string_view url) : client(url, client_options{}) {}

client::client(std::string_view url, client_options options) {
  const uncancelled meanwhile;
  api::check_options(options);
  api::make_paths_absolute(options);
  if (options.name.empty()) options.name = program_invocation_short_name;
  if (url.starts_with(in_memory)) {
    const std::string table{url.substr(in_memory.size())};
    auto engine = std::make_unique<memory::memory_engine>(table, options);
    core_ = std::make_shared<runtime::client_core>(std::move(engine), std::string{url}, nullptr);
    return;
  }
  auto parsed = redis::parse_url(url).value();
  api::check_tls(parsed.tls, options.tls);
  api::check_sentinel_link(parsed, options);
  if (!parsed.cluster_nodes.empty()) api::check_cluster(options);
  auto server = api::start_private_server(parsed);
  auto engine = std::make_unique<redis_locks::redis_engine>(session_of(parsed, options), options);
  core_ =
      std::make_shared<runtime::client_core>(std::move(engine), parsed.shown, std::move(server));
}

lock client::mutex(std::string_view name, const mutex_options& options, const dialect& how) const {
  return api::make_mutex(core_, name, options, how);
}

const std::string& client::url() const noexcept { return core_->url(); }

}  // namespace holdfast
