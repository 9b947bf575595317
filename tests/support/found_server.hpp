// Which of the installed servers is found by those who take the first.
#pragma once

#include <optional>
#include <string>

#include "embedded/directories.hpp"
#include "support/each_server.hpp"
#include "support/scoped_environment.hpp"

namespace holdfast::support {

// While it lives, `embedded:` starts this server ("valkey-server") where PATH is path().
class found_server {
 public:
  explicit found_server(const std::string& program);

  std::string path() const;

 private:
  embedded::private_directory folder_;
};

// A server test in which `embedded:` starts the server of its parameter.
class found_server_test : public server_test {
 protected:
  void SetUp() override;

 private:
  std::optional<found_server> found_;
  std::optional<scoped_environment> path_;
};

}  // namespace holdfast::support
