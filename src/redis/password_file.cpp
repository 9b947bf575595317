#include "redis/password_file.hpp"

#include <fstream>

namespace holdfast::redis {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  if (line.ends_with('\r')) line.pop_back();
  if (line.empty()) return std::nullopt;
  return line;
}

}  // namespace holdfast::redis
