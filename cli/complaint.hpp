// A refusal by the program itself; errors of the library are `failure`s.
#pragma once

#include <stdexcept>
#include <string>

#include "cli/exit_code.hpp"

namespace holdfast::cli {

class complaint : public std::runtime_error {
 public:
  complaint(exit_code code, const char* name, const std::string& message)
      : std::runtime_error(message), code_(code), name_(name) {}
  exit_code code() const noexcept { return code_; }
  const char* name() const noexcept { return name_; }  // in JSON

 private:
  exit_code code_;
  const char* name_;
};

}  // namespace holdfast::cli
