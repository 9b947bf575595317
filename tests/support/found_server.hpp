// Which of the installed servers is found by those who take the first.
#pragma once

#include <string>

#include "embedded/directories.hpp"

namespace holdfast::support {

// While it lives, `embedded:` starts this server ("valkey-server") where PATH is path().
class found_server {
 public:
  explicit found_server(const std::string& program);

  std::string path() const;

 private:
  embedded::private_directory folder_;
};

}  // namespace holdfast::support
