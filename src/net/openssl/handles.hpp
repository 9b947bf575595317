// Owners of objects that OpenSSL allocates.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace holdfast::net::openssl {

template <auto free>
struct freed_by {
  template <typename T>
  void operator()(T* handle) const noexcept {
    free(handle);
  }
};

using context_handle = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using ssl_handle = std::unique_ptr<SSL, freed_by<SSL_free>>;
using certificate_handle = std::unique_ptr<X509, freed_by<X509_free>>;
using memory_handle = std::unique_ptr<BIO, freed_by<BIO_free>>;
using names_handle = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

}  // namespace holdfast::net::openssl
