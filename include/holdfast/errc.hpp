/// \file
/// The errors that Holdfast reports, and the exception that carries them.
#pragma once

#include <string>
#include <system_error>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// Everything that can go wrong, one value per thing the caller might do about it.
/// Values are stable: they are never renumbered, new ones are added at the end.
enum class errc {
  busy = 1,           ///< Somebody else holds the lock. Ordinary; ask again later or wait.
  timed_out,          ///< The lock was not obtained within the given timeout.
  cancelled,          ///< The stop token was triggered while waiting.
  lost,               ///< The lease ended before it was released; the lock may have a new owner.
  unavailable,        ///< The server cannot be reached, or did not answer in time.
  authentication,     ///< User name, password or client certificate were refused.
  permission_denied,  ///< The server's access list forbids a command, key or channel.
  not_redis,          ///< The program at that address does not speak the Redis protocol.
  foreign_key,        ///< The lock's key holds something that is not a Holdfast lock. Untouched.
  layout_version,     ///< The key was written by a Holdfast with another layout. Untouched.
  out_of_memory,      ///< The server refuses writes: its memory limit is reached.
  read_only,          ///< The server is a replica and refuses writes.
  loading,            ///< The server is still loading its data set.
  server_busy,        ///< The server is busy with a long script or has no free connection.
  misconfigured,      ///< The server refuses writes because it cannot persist them (MISCONF).
  no_replicas,        ///< Too few replicas for writing at all, or to confirm a grant.
  clock_skew,         ///< The server's clock and the known tokens or deadlines do not agree.
  server_error,       ///< The server answered with an error not listed here; see the message.
  invalid_name,       ///< A lock name is empty or longer than 512 bytes.
  invalid_argument,   ///< A duration or option is out of range; the message says which.
  invalid_url,        ///< The server address cannot be understood; the message says why.
  unsupported,        ///< This build, server or kind of lock cannot do what was asked.
  forked,             ///< The object was made before fork() and is used in the child.
  /// A call would wait for itself, or holders or threads for each other in a circle.
  would_deadlock,
  embedded_server,   ///< The private server cannot be started; the message names the remedy.
  queue_full,        ///< As many requests wait for the lock as it allows.
  untrusted_server,  ///< The server could not prove who it is: see its certificate. Only with TLS.
  has_run,           ///< The job is not due again yet. Ordinary: see `once_per`.
};

/// The category of `errc` ("holdfast"). Thread safety: may be called from any thread.
HOLDFAST_EXPORT const std::error_category& error_category() noexcept;

/// The name of the enumerator: "timed_out". For labels, logs and JSON. Thread safety: the same.
HOLDFAST_EXPORT const char* name_of(errc code) noexcept;

/// Makes `std::error_code{errc::busy}` work.
HOLDFAST_EXPORT std::error_code make_error_code(errc code) noexcept;

/// What is thrown when something surprising happens, and what `result<T>` holds otherwise.
///
/// `what()` is one sentence that says what happened and what to do; it never contains a password
/// or a whole request id. Thread safety: a value type; distinct objects are independent.
class HOLDFAST_EXPORT failure : public std::system_error {
 public:
  explicit failure(errc code);  ///< Says what the code means, and `detail` where it is given.
  failure(errc code, const std::string& detail);

  /// As `code()`, in the form of the enumeration.
  [[nodiscard]] errc reason() const noexcept { return static_cast<errc>(code().value()); }
};

}  // namespace holdfast

template <>
struct std::is_error_code_enum<holdfast::errc> : std::true_type {};
