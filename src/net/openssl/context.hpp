// The authorities to trust and our own certificate, read from the files that the options name.
#pragma once

#include <optional>

#include "net/openssl/handles.hpp"
#include "net/tls.hpp"

namespace holdfast::net::openssl {

// `invalid_argument`: the detail names the option and the file.
std::optional<tls_problem> make_context(const tls_options& options, tls_peer peer,
                                        context_handle& into);

}  // namespace holdfast::net::openssl
