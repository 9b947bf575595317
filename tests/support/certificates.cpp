#include "support/certificates.hpp"

#include <arpa/inet.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "embedded/directories.hpp"
#include "net/openssl/handles.hpp"

namespace holdfast::support {
namespace {

using net::openssl::certificate_handle;
using net::openssl::freed_by;
using net::openssl::names_handle;
using key_handle = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using extension_handle = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("certificates: ") + what);
}

void add_name(GENERAL_NAMES* all, int kind, const void* bytes, std::size_t size) {
  ASN1_STRING* const value =
      ASN1_STRING_type_new(kind == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
  ASN1_STRING_set(value, bytes, static_cast<int>(size));
  GENERAL_NAME* const one = GENERAL_NAME_new();
  GENERAL_NAME_set0_value(one, kind, value);
  sk_GENERAL_NAME_push(all, one);
}

// Not from a text as configurations have it: that could write none with a zero byte.
names_handle subject_names(const certificate_order& order) {
  names_handle all{GENERAL_NAMES_new()};
  for (const auto& host : order.hosts) {
    unsigned char bytes[16];
    if (::inet_pton(AF_INET, host.c_str(), bytes) == 1) {
      add_name(all.get(), GEN_IPADD, bytes, 4);
    } else if (::inet_pton(AF_INET6, host.c_str(), bytes) == 1) {
      add_name(all.get(), GEN_IPADD, bytes, 16);
    } else {
      add_name(all.get(), GEN_DNS, host.data(), host.size());
    }
  }
  for (const auto& name : order.dns_names) add_name(all.get(), GEN_DNS, name.data(), name.size());
  return all;
}

certificate_handle blank(EVP_PKEY* key, const std::string& name, std::chrono::seconds valid) {
  certificate_handle made{X509_new()};
  static long serial = 0;
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -7L * 86'400);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), valid.count());
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return made;
}

void extend(X509* certificate, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const extension_handle made{X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str())};
  require(made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1, "an extension");
}

template <typename Write>
void write_file(const std::string& path, Write&& write) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  require(file != nullptr, path.c_str());
  const bool written = write(file) == 1;
  require(std::fclose(file) == 0 && written, path.c_str());
}

}  // namespace

struct certificate_authority::state {
  embedded::private_directory directory;
  std::string file = (directory.path() / "authority.pem").string();
  key_handle key{EVP_EC_gen("P-256")};
  certificate_handle certificate;
  int issued = 0;
};

certificate_authority::certificate_authority(const std::string& name)
    : state_(std::make_unique<state>()) {
  auto& own = *state_;
  own.certificate = blank(own.key.get(), name, std::chrono::hours{24 * 30});
  X509_set_issuer_name(own.certificate.get(), X509_get_subject_name(own.certificate.get()));
  extend(own.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  extend(own.certificate.get(), NID_key_usage, "critical,keyCertSign,cRLSign");
  require(X509_sign(own.certificate.get(), own.key.get(), EVP_sha256()) > 0, "signing");
  write_file(own.file, [&](auto* file) { return PEM_write_X509(file, own.certificate.get()); });
}

certificate_authority::~certificate_authority() = default;
certificate_authority::certificate_authority(certificate_authority&&) noexcept = default;

const std::string& certificate_authority::file() const { return state_->file; }

certificate_files certificate_authority::issue(const certificate_order& order) {
  const auto stem = (state_->directory.path() / std::to_string(++state_->issued)).string();
  const certificate_files files{stem + ".pem", stem + ".key"};
  issue(order, files);
  return files;
}

void certificate_authority::issue(const certificate_order& order, const certificate_files& into) {
  const key_handle key{EVP_EC_gen("P-256")};
  const auto made = blank(key.get(), order.common_name, order.valid);
  X509_set_issuer_name(made.get(), X509_get_subject_name(state_->certificate.get()));
  if (const auto names = subject_names(order); sk_GENERAL_NAME_num(names.get()) > 0) {
    require(X509_add1_ext_i2d(made.get(), NID_subject_alt_name, names.get(), 0, 0) == 1, "names");
  }
  require(X509_sign(made.get(), state_->key.get(), EVP_sha256()) > 0, "signing");
  write_file(into.certificate, [&](auto* file) { return PEM_write_X509(file, made.get()); });
  write_file(into.key, [&](auto* file) {
    return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
}

certificate_authority& trusted_authority() {
  static certificate_authority authority = [] {
    certificate_authority made("Holdfast Trusted Authority");
    ::setenv("SSL_CERT_FILE", made.file().c_str(), 1);
    return made;
  }();
  return authority;
}

}  // namespace holdfast::support
