// Checks of the arguments that callers pass.
#pragma once

#include <chrono>

#include <holdfast/dialect.hpp>
#include <holdfast/options.hpp>

namespace holdfast::api {

// Throws failure{errc::invalid_argument} naming `what` unless 10 ms <= lease <= 24 h.
void check_lease(std::chrono::milliseconds lease, const char* what);

// Throws failure{errc::invalid_argument} unless every duration is in its range, and the tenant's
// name is one.
void check_options(const client_options& options);

// Makes all paths of files absolute. Files are read again at each log-in, and by then the process
// may have changed its directory.
void make_paths_absolute(client_options& options);

// Throws failure{errc::unsupported} that says why, if it is `wanted`.
void refuse(bool wanted, const char* why);

// Throws failure{errc::unsupported} for options that need one server.
void check_cluster(const client_options& options);

// Throws what is wrong with the options for TLS: `invalid_argument`, or `unsupported`. `tls`:
// whether the URL asks for it.
void check_tls(bool tls, const tls_options& options);

// Throws failure{errc::invalid_argument} unless the lock can be kept after its release.
void check_retain(const mutex_options& options);

// Throws failure{errc::unsupported} when a lock in the layout of another library cannot have what
// is wanted.
void check_foreign(const mutex_options& options, const dialect& how);

// Throws failure{errc::unsupported} when the lock is wanted in another library's layout.
void check_native(const dialect& how);

// Throws failure{errc::invalid_argument} unless 0 <= delay <= 1 h.
void check_lock_delay(std::chrono::milliseconds delay);

// Throws failure{errc::invalid_argument} naming `what` unless the timeout is 0 or more.
void check_timeout(std::chrono::milliseconds timeout, const char* what = "timeout");

}  // namespace holdfast::api
