#include "net/openssl/explain.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>

#include <cerrno>
#include <system_error>

namespace holdfast::net::openssl {
namespace {

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

std::string address_of(const ASN1_OCTET_STRING* bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(bytes),
              text, sizeof text);
  return text;
}

// The hosts that a certificate is for: "a.example.org, 10.0.0.1".
std::string hosts_of(const X509* certificate) {
  const names_handle names{static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))};
  std::string all;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* const name = sk_GENERAL_NAME_value(names.get(), i);
    std::string host;
    if (name->type == GEN_DNS) host = text_of(name->d.dNSName);
    if (name->type == GEN_IPADD) host = address_of(name->d.iPAddress);
    if (!host.empty()) all += (all.empty() ? "" : ", ") + host;
  }
  return all.empty() ? "no host at all (it has no subjectAltName)" : all;
}

template <typename Print>
std::string printed(Print&& print) {
  const memory_handle into{BIO_new(BIO_s_mem())};
  print(into.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(into.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string time_of(const ASN1_TIME* time) {
  return printed([&](BIO* into) { ASN1_TIME_print(into, time); });
}

std::string issuer_of(const X509* certificate) {
  return printed([&](BIO* into) {
    X509_NAME_print_ex(into, X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
  });
}

std::string trusted(const tls_options& options, tls_peer peer) {
  const auto remedy = advice_to_set(peer, "ca_file", "ca");
  if (options.ca_file.empty() && options.ca_directory.empty()) {
    return "that this system trusts: give its certificate as " + remedy;
  }
  const auto& where = options.ca_file.empty() ? options.ca_directory : options.ca_file;
  return "in '" + where + "': give the certificate of the authority that issued it as " + remedy;
}

std::string about_certificate(const X509* certificate, long verdict, const tls_options& options,
                              tls_peer peer, const std::string& name) {
  switch (verdict) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not for '" + name + "' but for " + hosts_of(certificate) +
             ": connect by such a name, or say which one is meant with " +
             advice_to_set(peer, "server_name", "server-name");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate, or one above it, has expired (its own ends " +
             time_of(X509_get0_notAfter(certificate)) +
             "): renew it, or correct this machine's clock";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid yet (it begins " +
             time_of(X509_get0_notBefore(certificate)) + "): correct the clocks";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the server's certificate was issued by '" + issuer_of(certificate) +
             "', which is no authority " + trusted(options, peer);
    default:
      return std::string("the server's certificate is not acceptable: ") +
             X509_verify_cert_error_string(verdict);
  }
}

tls_problem about_protocol(unsigned long error, const tls_options& options, tls_peer peer) {
  switch (ERR_GET_REASON(error)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH:
    case SSL_R_UNEXPECTED_MESSAGE:
      return {errc::not_redis,
              std::string("the server does not speak TLS: give the port where it does, or ") +
                  advice_to_speak_plain(peer)};
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
      return {errc::untrusted_server, "the server knows no TLS of version 1.2 or later"};
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      if (!options.certificate_file.empty()) break;
      return {errc::authentication,
              "the server demands a certificate of its clients: give one, and its key, with " +
                  advice_to_set(peer, "certificate_file", "cert")};
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
      return {errc::authentication, std::string("the server refuses our certificate (") +
                                        ERR_reason_error_string(error) +
                                        "): give one that its authority has issued with " +
                                        advice_to_set(peer, "certificate_file", "cert")};
    default:
      break;
  }
  const char* const why = ERR_reason_error_string(error);
  return {errc::unavailable,
          std::string("TLS with the server failed: ") + (why != nullptr ? why : "unknown error")};
}

}  // namespace

tls_problem explain_refusal(const X509* certificate, long verdict, const tls_options& options,
                            tls_peer peer, const std::string& name) {
  ERR_clear_error();
  return {errc::untrusted_server, about_certificate(certificate, verdict, options, peer, name)};
}

tls_problem explain_failure(const tls_options& options, tls_peer peer) {
  const int system = errno;
  const auto error = ERR_peek_error();
  ERR_clear_error();
  if (error != 0) return about_protocol(error, options, peer);
  return {errc::unavailable, "the connection broke: " + std::generic_category().message(system)};
}

}  // namespace holdfast::net::openssl
