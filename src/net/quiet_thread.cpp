#include "net/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

#include "base/uncancelled.hpp"

namespace holdfast::net {
namespace {

thread_local bool is_ours = false;

// A new thread inherits this. It ends also when no thread can be started.
class all_signals_blocked {
 public:
  all_signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~all_signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

bool is_quiet_thread() noexcept { return is_ours; }

std::thread quiet_thread(const char* name, std::function<void()> body) {
  // The child of a fork goes on with the thread that forked, as with one of its own.
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { is_ours = false; });
  (void)registered;
  const all_signals_blocked meanwhile;
  // An exception there ends the process, also when memory has run out. A thread of ours that left
  // its work half done would leave locks in an unknown state. The leases of a dead process end by
  // themselves.
  std::thread made([run = std::move(body)]() noexcept {
    is_ours = true;
    const uncancelled always;  // also what the user calls on it
    run();
  });
  pthread_setname_np(made.native_handle(), name);
  return made;
}

}  // namespace holdfast::net
