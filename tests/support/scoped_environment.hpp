// An environment variable that has another value for a while.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace holdfast::support {

// Thread safety: none, like the environment itself.
class scoped_environment {
 public:
  // No value: not set.
  scoped_environment(std::string name, const std::optional<std::string>& value)
      : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  ~scoped_environment() { set(before_); }
  scoped_environment(const scoped_environment&) = delete;
  scoped_environment& operator=(const scoped_environment&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    if (value) {
      ::setenv(name_.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }

  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace holdfast::support
