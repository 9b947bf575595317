// Programs as children: their output, their end, and signals to them.
#pragma once

#include <sys/types.h>

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "net/descriptor.hpp"
#include "support/eventually.hpp"

namespace holdfast::support {

struct program_call {
  std::string program;  // a path, or a name to be found in PATH
  std::vector<std::string> arguments{};
  std::vector<std::string> environment{};  // "NAME=value"; "NAME" alone removes it
  std::string directory{};                 // to work in; empty: ours
  bool own_group = false;                  // a process group of its own, as a shell makes for jobs
};

// How a program ended.
struct ending {
  int exit_code = 0;  // of exit(); -1 when a signal killed it
  int signal = 0;     // that killed it; 0: none
  friend bool operator==(const ending&, const ending&) = default;
};

// In so long a program does what it is asked, also where it begins others and a busy machine lets
// each of them wait.
inline constexpr milliseconds for_a_program = 3 * generous;

// A running program. Its output is collected while one of the waiting members runs. It is killed
// with this object, its whole group when it has one. Problems are thrown as std::runtime_error.
class child_process {
 public:
  explicit child_process(const program_call& call);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;        // the process alone
  void signal_group(int number) const;  // as Ctrl-C does; only with own_group

  // Waits until it is read, or until the child reads no more.
  void write(std::string_view input);
  void close_input() { input_.reset(); }

  // Waits for the end; throws when it does not come in time. Leaves the input open.
  ending wait(milliseconds bound = for_a_program);
  // Waits until the standard output (or error output) contains this text; false when it never will.
  bool wait_for_output(std::string_view text, milliseconds bound = for_a_program);
  bool wait_for_errors(std::string_view text, milliseconds bound = for_a_program);

  const std::string& output() const noexcept { return output_.text; }
  const std::string& errors() const noexcept { return errors_.text; }

 private:
  struct stream {
    net::descriptor end;
    std::string text;
  };
  bool wait_for(const stream& where, std::string_view text, milliseconds bound);
  bool pump(monotonic_time deadline);  // false: nothing more to come, or the deadline
  static void receive(stream& from);

  pid_t pid_ = -1;
  bool own_group_;
  bool ended_ = false;
  ending how_;
  net::descriptor input_;
  stream output_;
  stream errors_;
};

// A program that was run to its end.
struct finished {
  ending how;
  std::string output;
  std::string errors;
};
finished run(const program_call& call, std::string_view input = {},
             milliseconds bound = for_a_program);

// For test failures.
std::ostream& operator<<(std::ostream& out, const ending& how);

}  // namespace holdfast::support
