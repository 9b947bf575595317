// Explains failures of TLS, and says what to do.
#pragma once

#include <string>

#include "net/openssl/handles.hpp"
#include "net/tls.hpp"

namespace holdfast::net::openssl {

// Why the peer's certificate was refused: `verdict` is a X509_V_ERR_...
tls_problem explain_refusal(const X509* certificate, long verdict, const tls_options& options,
                            tls_peer peer, const std::string& name);

// After a call has failed for another reason: from OpenSSL's queue of errors, which is emptied.
tls_problem explain_failure(const tls_options& options, tls_peer peer);

}  // namespace holdfast::net::openssl
