// Which names a browser may call the HTTP server by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli::http {

// A page of an attacker can have the browser of an operator ask us, under a name of the attacker's
// that it has made to mean our address. Then the attacker's page may read the answer (DNS
// rebinding). That name stands in the header `Host`. So only known names are answered. An address
// is answered too: no page has it as its origin but ours.
class allowed_hosts {
 public:
  explicit allowed_hosts(std::vector<std::string> names);

  // Of the header, with or without a port.
  bool includes(std::string_view host) const;

 private:
  std::vector<std::string> names_;
};

}  // namespace holdfast::cli::http
