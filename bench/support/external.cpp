#include "support/external.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "net/descriptor.hpp"

namespace holdfast::bench {

std::string output_of(const std::vector<std::string>& words) {
  // None of them takes this long; one that hangs must not keep us.
  std::vector<char*> arguments{const_cast<char*>("timeout"), const_cast<char*>("300")};
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const auto child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  const net::descriptor from{ends[0]};
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(from.get(), buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(words[0] + " failed: " + text);
  }
  return text;
}

bool is_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (::access((std::filesystem::path(directory) / program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

double redis_benchmark(int port, long requests, long range,
                       const std::vector<std::string>& command) {
  std::vector<std::string> words{
      "redis-benchmark",        "-p", std::to_string(port),  "-c",   "64", "-P", "16", "-n",
      std::to_string(requests), "-r", std::to_string(range), "--csv"};
  words.insert(words.end(), command.begin(), command.end());
  // "test","rps",... and then "the command","81234.56",...
  const auto text = output_of(words);
  const auto line = text.rfind('\n', text.size() - 2);
  const auto at = text.find("\",\"", line == std::string::npos ? 0 : line);
  if (at == std::string::npos) throw std::runtime_error("redis-benchmark said: " + text);
  return std::stod(text.substr(at + 3));
}

}  // namespace holdfast::bench
