// A second process of the test itself, to be killed or frozen.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "net/descriptor.hpp"
#include "support/eventually.hpp"

namespace holdfast::support {

// The sanitizers of LLVM 14 do not hold the locks of their allocators across fork (LLVM 18 does):
// a child whose parent has a thread inside one of them waits for ever when it allocates.
#ifdef HOLDFAST_SANITIZED
inline constexpr bool allocator_survives_fork = false;
#else
inline constexpr bool allocator_survives_fork = true;
#endif

// Runs a function in a forked child. The child ends when the function returns, without running
// destructors or exit handlers of the parent's objects; it is killed with this object.
class forked {
 public:
  // The child's messages to its parent: one line at a time.
  class teller {
   public:
    explicit teller(int fd) noexcept : fd_(fd) {}
    void tell(const std::string& line) const;
    [[noreturn]] void sleep_until_killed() const;

   private:
    int fd_;
  };

  explicit forked(const std::function<void(const teller&)>& body);
  ~forked();
  forked(const forked&) = delete;
  forked& operator=(const forked&) = delete;

  pid_t pid() const noexcept { return pid_; }
  std::string heard();  // the next line; throws when none comes in time
  void signal(int number) const;
  void freeze() const;
  void kill9();

  // The exit status: 0 when the function returned, 1 when it threw, 128 + n when killed by signal
  // n.
  int wait();

 private:
  pid_t pid_ = 0;
  int status_ = -1;
  net::descriptor ear_;
  std::string received_;
};

// True when no process with this id runs any more. (A dead one whose parent has not noticed counts
// as gone: in a container nobody may ever notice.)
bool is_gone(pid_t pid);

// SIGSTOP to a process, which need not be a child. Returns when none of its threads runs any more:
// kill() returns when the first of them knows, and others may run on for some milliseconds.
void freeze(pid_t pid);

}  // namespace holdfast::support
