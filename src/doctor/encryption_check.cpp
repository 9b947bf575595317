#include "doctor/encryption_check.hpp"

#include <variant>

#include "doctor/access_check.hpp"

namespace holdfast::doctor {
namespace {

using severity = finding::severity;

finding about_plain_bytes(const net::endpoint& to) {
  const auto* const over = std::get_if<net::tcp_endpoint>(&to);
  const std::string not_needed = ", and none is needed: the traffic stays on this machine";
  if (over == nullptr) {
    return {severity::ok, "tls", "no TLS through a unix socket" + not_needed, ""};
  }
  if (is_loopback(over->host)) {
    return {severity::ok, "tls", "no TLS to " + over->host + not_needed, ""};
  }
  return {severity::warning, "tls", "no TLS to " + over->host,
          "an attacker on the way can read and change everything, the password too: use rediss:// "
          "(rediss+sentinel://, rediss+cluster://) unless you trust that network"};
}

}  // namespace

finding examine_encryption(const net::endpoint& to, const std::optional<tls_options>& wanted,
                           const std::string& agreed) {
  if (!wanted) return about_plain_bytes(to);
  const auto version = agreed.empty() ? std::string("TLS") : agreed;
  if (!wanted->insecure_accept_any_certificate) {
    return {severity::ok, "tls", version + ", the server has proved who it is", ""};
  }
  return {
      severity::warning, "tls", version + ", but any certificate is accepted",
      "an attacker on the way can read and change everything: trust the certificate's authority "
      "with tls.ca_file (--tls-ca) instead"};
}

}  // namespace holdfast::doctor
