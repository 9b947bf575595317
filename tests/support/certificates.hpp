// An authority of the tests' own, and the certificates that it issues.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::support {

struct certificate_files {
  std::string certificate;
  std::string key;
};

struct certificate_order {
  std::vector<std::string> hosts{"localhost", "127.0.0.1"};  // names and addresses
  std::chrono::seconds valid{std::chrono::hours{24}};        // negative: has expired
  std::string common_name{"holdfast-test"};
  std::vector<std::string> dns_names{};  // further ones, byte by byte, whatever they look like
};

// Its files are removed with this object. Not thread-safe.
class certificate_authority {
 public:
  explicit certificate_authority(const std::string& name = "Holdfast Test Authority");
  ~certificate_authority();
  certificate_authority(certificate_authority&&) noexcept;

  const std::string& file() const;  // its own certificate: whom to trust

  certificate_files issue(const certificate_order& order = {});

  // In the place of an earlier one.
  void issue(const certificate_order& order, const certificate_files& into);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// That of this process, which OpenSSL in this process and its children trusts by SSL_CERT_FILE.
certificate_authority& trusted_authority();

}  // namespace holdfast::support
