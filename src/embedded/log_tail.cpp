#include "embedded/log_tail.hpp"

#include <deque>
#include <fstream>

#include "base/printable.hpp"

namespace holdfast::embedded {

std::string log_tail(const std::filesystem::path& log) {
  std::deque<std::string> lines;
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(line);
    if (lines.size() > 6) lines.pop_front();
  }
  std::string text;
  for (const auto& line : lines) {
    text += (text.empty() ? "; its log ends: \"" : ", \"") + printable(line) + "\"";
  }
  return text;
}

}  // namespace holdfast::embedded
