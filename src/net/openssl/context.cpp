#include "net/openssl/context.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace holdfast::net::openssl {
namespace {

using problem = std::optional<tls_problem>;

// The details of all of these begin with the name of an option.

problem invalid(const char* option, const std::string& path, const std::string& why) {
  return tls_problem{errc::invalid_argument, std::string(option) + " '" + path + "' " + why};
}

problem check_readable(const char* option, const std::string& path, bool directory) {
  struct stat found {};
  const bool there = ::stat(path.c_str(), &found) == 0 && ::access(path.c_str(), R_OK) == 0;
  if (!there) {
    return invalid(option, path, "cannot be read: " + std::generic_category().message(errno));
  }
  if (directory) {
    if (S_ISDIR(found.st_mode)) return std::nullopt;
    return invalid(option, path, "is not a directory");
  }
  // A FIFO that nobody writes to would hold up each connection, and the end of the client, for
  // ever.
  if (S_ISREG(found.st_mode)) return std::nullopt;
  return invalid(option, path,
                 S_ISDIR(found.st_mode) ? "is a directory, not a file" : "is no regular file");
}

problem trust(const tls_options& options, SSL_CTX* context) {
  if (options.insecure_accept_any_certificate) return std::nullopt;
  const auto& file = options.ca_file;
  const auto& directory = options.ca_directory;
  if (file.empty() && directory.empty()) SSL_CTX_set_default_verify_paths(context);
  if (!file.empty()) {
    if (auto wrong = check_readable("ca_file", file, false)) return wrong;
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1) {
      return invalid("ca_file", file, "holds no certificate in PEM form");
    }
  }
  if (!directory.empty()) {
    if (auto wrong = check_readable("ca_directory", directory, true)) return wrong;
    SSL_CTX_load_verify_dir(context, directory.c_str());  // looks into it when it needs one
  }
  return std::nullopt;
}

// Otherwise OpenSSL would ask for it at the terminal.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

problem introduce(const tls_options& options, SSL_CTX* context) {
  const auto& certificate = options.certificate_file;
  if (certificate.empty()) return std::nullopt;
  const auto& key = options.key_file.empty() ? certificate : options.key_file;
  const char* const key_option = options.key_file.empty() ? "certificate_file" : "key_file";
  if (auto wrong = check_readable("certificate_file", certificate, false)) return wrong;
  if (auto wrong = check_readable(key_option, key, false)) return wrong;
  if (SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1) {
    return invalid("certificate_file", certificate, "holds no certificate in PEM form");
  }
  bool passphrase = false;
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &passphrase);
  const bool usable = SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (passphrase) {
    return invalid(key_option, key, "is protected by a passphrase: give it without one");
  }
  if (usable && SSL_CTX_check_private_key(context) == 1) return std::nullopt;
  const bool other = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH ||
                     ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_TYPE_MISMATCH;
  return invalid(key_option, key,
                 other ? "does not fit the certificate '" + certificate + "'"
                       : std::string("holds no private key in PEM form"));
}

problem check_combination(const tls_options& options) {
  const auto refuse = [](const char* why) { return tls_problem{errc::invalid_argument, why}; };
  const bool authorities = !options.ca_file.empty() || !options.ca_directory.empty();
  if (options.insecure_accept_any_certificate && authorities) {
    return refuse(
        "insecure_accept_any_certificate does not go with ca_file or ca_directory: "
        "give one or the other");
  }
  if (options.certificate_file.empty() && !options.key_file.empty()) {
    return refuse("key_file needs certificate_file");
  }
  // OpenSSL would take ".example.org" for any name that ends so.
  const auto& name = options.server_name;
  if (name.starts_with('.') || name.find('\0') != std::string::npos) {
    return refuse("server_name must be one host name or address");
  }
  return std::nullopt;
}

}  // namespace

problem make_context(const tls_options& options, tls_peer peer, context_handle& into) {
  ERR_clear_error();
  into.reset(SSL_CTX_new(TLS_client_method()));
  if (!into) return tls_problem{errc::unavailable, "OpenSSL cannot be initialised"};
  SSL_CTX_set_min_proto_version(into.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(into.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(into.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(into.get(), SSL_SESS_CACHE_OFF);
  auto wrong = check_combination(options);
  if (!wrong) wrong = trust(options, into.get());
  if (!wrong) wrong = introduce(options, into.get());
  ERR_clear_error();
  if (wrong) wrong->detail = name_of(peer, wrong->detail);
  return wrong;
}

}  // namespace holdfast::net::openssl
