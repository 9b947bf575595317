// A command that prints the password, as those of cloud services and password stores do.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <holdfast/login.hpp>

namespace holdfast::cli {

// `/bin/sh -c COMMAND` prints the password in its first line. Its error output is ours, its input
// is empty. It runs in a process group of its own, which is killed when its time is over.
//
// Thread safety: all members from any thread.
class password_command : public std::enable_shared_from_this<password_command> {
 public:
  // `valid_for`: how long a password is good; zero: until a server refuses it. `most`: how long the
  // command may take.
  password_command(std::string command, std::chrono::milliseconds valid_for,
                   std::chrono::milliseconds most);

  // Runs it for the first time, unless that was done: before a client is made, so that a wrong
  // command is told as such, and that connecting has its whole time. Throws failure.
  void try_once();

  // Runs it now. Throws failure.
  login ask() const;
  // For client_options::credentials.
  std::function<login()> callback();

  const std::string& command() const noexcept { return command_; }

 private:
  login run() const;

  const std::string command_;
  const std::chrono::milliseconds valid_for_;
  const std::chrono::milliseconds most_;
  std::mutex guard_;
  bool was_tried_ = false;
  std::optional<login> first_;  // for whichever client asks first
};

}  // namespace holdfast::cli
