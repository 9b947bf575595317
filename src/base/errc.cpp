#include <holdfast/errc.hpp>

#include "base/never_destroyed.hpp"
#include "base/printable.hpp"

namespace holdfast {
namespace {

// Each reads well alone and after "detail: ", which is how std::system_error joins the two.
const char* sentence(errc code) noexcept {
  switch (code) {
    case errc::busy:
      return "somebody else holds the lock; ask again later or wait for it";
    case errc::timed_out:
      return "the lock was not obtained in time";
    case errc::cancelled:
      return "the waiting was cancelled";
    case errc::lost:
      return "the lease ended before it was released; the lock may have a new owner";
    case errc::unavailable:
      return "the server cannot be reached or did not answer in time";
    case errc::authentication:
      return "user name, password or client certificate were refused, or there were none";
    case errc::permission_denied:
      return "the server's access list forbids a command, key or channel that is needed";
    case errc::not_redis:
      return "the program that answers at this address does not speak the Redis protocol";
    case errc::foreign_key:
      return "the lock's key holds something else, maybe a lock of another kind; it was left "
             "untouched";
    case errc::layout_version:
      return "the lock was written by a Holdfast with another layout; it was left untouched";
    case errc::out_of_memory:
      return "the server refuses writes because its memory limit is reached";
    case errc::read_only:
      return "the server is a replica and refuses writes";
    case errc::loading:
      return "the server is still loading its data set";
    case errc::server_busy:
      return "the server is busy or has no free connection";
    case errc::misconfigured:
      return "the server refuses writes because it cannot persist them";
    case errc::no_replicas:
      return "too few replicas are connected, or have confirmed it in time";
    case errc::clock_skew:
      return "the server's clock does not agree with the known tokens or deadlines";
    case errc::server_error:
      return "the server answered with an unexpected error";
    case errc::invalid_name:
      return "a lock name must have 1 to 512 bytes";
    case errc::invalid_argument:
      return "a duration or option is out of range";
    case errc::invalid_url:
      return "the server address cannot be understood";
    case errc::unsupported:
      return "this build, server or kind of lock cannot do what was asked";
    case errc::forked:
      return "the object was made before fork() and cannot be used in the child; make a new client";
    case errc::would_deadlock:
      return "the call would wait for its own thread, or its own lock";
    case errc::embedded_server:
      return "the private server cannot be started";
    case errc::queue_full:
      return "too many requests wait for the lock";
    case errc::untrusted_server:
      return "the server could not prove who it is";
    case errc::has_run:
      return "the job is not due again yet";
  }
  return "unknown error";
}

class holdfast_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override { return sentence(static_cast<errc>(code)); }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const never_destroyed<holdfast_category> category;
  return *category;
}

const char* name_of(errc code) noexcept {
  switch (code) {
    case errc::busy:
      return "busy";
    case errc::timed_out:
      return "timed_out";
    case errc::cancelled:
      return "cancelled";
    case errc::lost:
      return "lost";
    case errc::unavailable:
      return "unavailable";
    case errc::authentication:
      return "authentication";
    case errc::permission_denied:
      return "permission_denied";
    case errc::not_redis:
      return "not_redis";
    case errc::foreign_key:
      return "foreign_key";
    case errc::layout_version:
      return "layout_version";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::read_only:
      return "read_only";
    case errc::loading:
      return "loading";
    case errc::server_busy:
      return "server_busy";
    case errc::misconfigured:
      return "misconfigured";
    case errc::no_replicas:
      return "no_replicas";
    case errc::clock_skew:
      return "clock_skew";
    case errc::server_error:
      return "server_error";
    case errc::invalid_name:
      return "invalid_name";
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::invalid_url:
      return "invalid_url";
    case errc::unsupported:
      return "unsupported";
    case errc::forked:
      return "forked";
    case errc::would_deadlock:
      return "would_deadlock";
    case errc::embedded_server:
      return "embedded_server";
    case errc::queue_full:
      return "queue_full";
    case errc::untrusted_server:
      return "untrusted_server";
    case errc::has_run:
      return "has_run";
  }
  return "unknown";
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

failure::failure(errc code) : std::system_error(make_error_code(code)) {}

// The one place where a text becomes an error's: hosts that a sentinel or MOVED names, names in
// certificates, replies. None of them may write escape sequences into a terminal or log.
failure::failure(errc code, const std::string& detail)
    : std::system_error(make_error_code(code), without_control_bytes(detail)) {}

}  // namespace holdfast
