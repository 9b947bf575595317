// The kind of server at the other end, on which the advice in messages about TLS depends: other
// options, another address.
#pragma once

#include <string>

namespace holdfast::net {

enum class tls_peer {
  server,
  sentinel_as_server,  // its link is secured as those to the servers are
  sentinel_apart,      // or has options of its own
};

// Of `tls_options`, as messages name it: "tls.ca_file".
std::string name_of(tls_peer peer, const std::string& option);

// As above, and the program's option: "tls.ca_file (--tls-ca)".
std::string advice_to_set(tls_peer peer, const char* option, const char* argument);

// Advice about a peer that speaks no TLS, and about one that speaks nothing else.
const char* advice_to_speak_plain(tls_peer peer) noexcept;
const char* advice_to_speak_tls(tls_peer peer) noexcept;

}  // namespace holdfast::net
