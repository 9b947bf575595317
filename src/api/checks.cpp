#include "api/checks.hpp"

#include <filesystem>
#include <string>
#include <system_error>

#include <holdfast/errc.hpp>

#include "base/key_space.hpp"
#include "net/tls.hpp"

namespace holdfast::api {
namespace {

using std::chrono::milliseconds;

void require(bool good, const char* what, const char* range) {
  if (!good) throw failure{errc::invalid_argument, std::string(what) + " must be " + range};
}

void check_network_timeout(milliseconds timeout, const char* what) {
  require(timeout >= milliseconds{1} && timeout <= std::chrono::minutes{10}, what,
          "1 ms to 10 min");
}

}  // namespace

void check_lease(milliseconds lease, const char* what) {
  require(lease >= milliseconds{10} && lease <= std::chrono::hours{24}, what, "10 ms to 24 h");
}

void check_options(const client_options& options) {
  check_network_timeout(options.connect_timeout, "connect_timeout");
  check_network_timeout(options.response_timeout, "response_timeout");
  check_lease(options.default_lease, "default_lease");
  check_timeout(options.default_timeout, "default_timeout");
  require(options.spin >= std::chrono::microseconds{0} && options.spin <= std::chrono::seconds{1},
          "spin", "0 to 1 s");
  require(options.quarantine >= milliseconds{0} && options.quarantine <= std::chrono::hours{24},
          "quarantine", "0 to 24 h");
  require(options.min_replicas <= 100, "min_replicas", "0 to 100");
  require(options.min_replicas > 0 || !options.replicas_fsync, "replicas_fsync",
          "false without min_replicas");
  require(!options.credentials || options.password_file.empty(), "password_file",
          "empty where credentials are given: a password comes from one of them");
  require(options.audit.size() <= 512, "audit", "at most 512 bytes long");
  require(options.name.size() <= 256, "name", "at most 256 bytes long");
  (void)key_space{options.tenant};  // throws when it is none
}

void check_tls(bool tls, const tls_options& options) {
  if (!tls && options != tls_options{}) {
    throw failure{errc::invalid_argument,
                  "options for TLS are given, but the address is not rediss://: nothing would be "
                  "encrypted"};
  }
  if (!tls) return;
  if (const auto wrong = net::check_tls(options)) throw failure{wrong->code, wrong->detail};
}

void make_paths_absolute(client_options& options) {
  const auto make_absolute = [](std::string& path) {
    if (path.empty() || path.starts_with('/')) return;
    std::error_code nowhere;  // the directory of the process was removed: the path leads nowhere
    const auto from_root = std::filesystem::absolute(path, nowhere);
    if (!nowhere) path = from_root.string();
  };
  const auto make_all_absolute = [&](tls_options& of) {
    for (auto* const path : {&of.ca_file, &of.ca_directory, &of.certificate_file, &of.key_file}) {
      make_absolute(*path);
    }
  };
  make_absolute(options.password_file);
  make_absolute(options.sentinel_password_file);
  make_all_absolute(options.tls);
  if (options.sentinel_tls) make_all_absolute(*options.sentinel_tls);
}

void refuse(bool wanted, const char* why) {
  if (wanted) throw failure{errc::unsupported, why};
}

void check_cluster(const client_options& options) {
  refuse(options.quarantine > milliseconds{0},
         "a quarantine after a failover is not supported for a cluster: the client cannot tell "
         "which moved slots were failed over");
  refuse(options.detect_deadlocks,
         "deadlocks cannot be detected over a cluster: its locks have no common server");
}

void check_retain(const mutex_options& options) {
  require(options.retain >= milliseconds{0} && options.retain <= std::chrono::hours{1}, "retain",
          "0 to 1 h");
  const bool can_be_kept = !options.fair && options.renewal == renewal::automatic;
  require(options.retain == milliseconds{0} || can_be_kept, "retain",
          "0 with fair or renewal::none: such a lock goes back at every release");
}

void check_foreign(const mutex_options& options, const dialect& how) {
  const auto refuse = [&](bool wanted, const char* what, const char* why) {
    if (!wanted) return;
    throw failure{errc::unsupported, std::string(what) + " is nothing that a lock of the dialect " +
                                         std::string(how.name()) + " has: " + why};
  };
  refuse(options.fair, "fair", "nobody there waits in order of arrival; redisson has fair mutexes");
  refuse(options.retain > milliseconds{0}, "retain",
         "its other users cannot ask to have a lock back that is only kept");
  refuse(options.lock_delay > milliseconds{0}, "lock_delay", "its layout has no place for one");
  refuse(options.queue_limit != mutex_options{}.queue_limit, "queue_limit",
         "no queue at the server has one there");
}

void check_native(const dialect& how) {
  if (how == dialect{}) return;
  throw failure{errc::unsupported, "the dialect " + std::string(how.name()) +
                                       " is not known for this kind of lock; redisson is "
                                       "also for read-write locks, semaphores and latches, symfony "
                                       "for read-write locks, redis_semaphore for semaphores"};
}

void check_lock_delay(milliseconds delay) {
  require(delay >= milliseconds{0} && delay <= std::chrono::hours{1}, "lock_delay", "0 to 1 h");
}

void check_timeout(milliseconds timeout, const char* what) {
  require(timeout >= milliseconds{0}, what, "0 or more");
}

}  // namespace holdfast::api
