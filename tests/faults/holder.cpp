// Holds a lock and does what it is told, so that the tests can freeze it, kill it or let it fork.
//
//   holder URL SOCKET NAME LEASE_MS
//
// Commands, one a line: acquire, held, losses, release, check (and wait for a second line before
// writing), fork, exit, _exit. Each is answered by one line, "ANSWER #N", N = 1, 2, ...
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <optional>

#include <holdfast/holdfast.hpp>

#include "faults/fenced_register.hpp"

namespace {

// A leak checker would miss what the threads of the parent keep on their stacks.
bool is_forked_child = false;

}  // namespace

extern "C" int __lsan_is_turned_off();
extern "C" int __lsan_is_turned_off() { return is_forked_child ? 1 : 0; }

namespace {

using namespace holdfast;

void say(const std::string& answer) {
  static int number = 0;
  std::cout << answer << " #" << ++number << std::endl;
}

class obedient_holder {
 public:
  explicit obedient_holder(char** arguments)
      : socket_(arguments[2]),
        redis_(client(arguments[1])),
        lock_(redis_->mutex(arguments[3],
                            {.lease = std::chrono::milliseconds(std::stoi(arguments[4]))})) {}

  std::string obey(const std::string& command) {
    if (command == "acquire") return acquire();
    if (command == "held") return held_ && held_->held() ? "held" : "not held";
    if (command == "losses") return std::to_string(losses_);
    if (command == "release") return release();
    if (command == "check") return check();
    if (command == "fork") return fork();
    if (command == "exit") std::exit(0);
    if (command == "_exit") ::_exit(0);
    return "what?";
  }

 private:
  std::string acquire() {
    auto got = lock_->try_acquire();
    if (!got) return "failed " + std::string(got.error().what());
    held_ = *std::move(got);
    on_loss_.emplace(held_->lost(), [this] { ++losses_; });
    return "token " + std::to_string(held_->token().value());
  }

  std::string release() {
    const auto released = held_->release();
    return released ? "released" : released.error().what();
  }

  // Looks before it writes, and is interrupted just then: no check can help here.
  std::string check() {
    if (!held_->held()) return "not held";
    say("checked");
    std::string go;
    std::getline(std::cin, go);
    faults::fenced_register resource(socket_);
    resource.write_unfenced("late");
    return resource.write(held_->token().value(), "late") ? "written" : "refused";
  }

  std::string fork() {
    const auto child = ::fork();
    if (child == 0) std::exit(inherit());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? "child " + std::to_string(WEXITSTATUS(status)) : "child was killed";
  }

  // In the child. Returns what was wrong; every copy of the parent's objects is destroyed.
  int inherit() {
    ::alarm(20);
    is_forked_child = true;
    if (held_->held()) return 1;
    if (held_->remaining() > std::chrono::milliseconds(0)) return 2;
    if (!fails_as_forked([this] { static_cast<void>(lock_->try_acquire()); })) return 3;
    if (!fails_as_forked([this] { static_cast<void>(held_->release()); })) return 4;
    if (!fails_as_forked([this] { static_cast<void>(redis_->mutex("x")); })) return 5;
    const auto url = redis_->url();
    on_loss_.reset();
    held_.reset();
    lock_.reset();
    redis_.reset();
    const client own(url);
    return own.mutex("of the child").try_acquire() ? 0 : 6;
  }

  static bool fails_as_forked(const std::function<void()>& call) {
    try {
      call();
    } catch (const failure& reason) {
      return reason.reason() == errc::forked;
    }
    return false;
  }

  std::string socket_;
  std::atomic<int> losses_{0};
  std::optional<client> redis_;
  std::optional<lock> lock_;
  std::optional<lease> held_;
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
};

}  // namespace

int main(int, char** arguments) {
  static obedient_holder mine(arguments);  // destroyed by exit()
  for (std::string command; std::getline(std::cin, command);) {
    say(mine.obey(command));
  }
}
