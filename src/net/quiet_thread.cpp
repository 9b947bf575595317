#include "net/quiet_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace holdfast::net {
namespace {

thread_local bool is_ours = false;

}  // namespace

bool is_quiet_thread() noexcept { return is_ours; }

std::thread quiet_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread made([run = std::move(body)] {
    is_ours = true;
    run();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(made.native_handle(), name);
  return made;
}

}  // namespace holdfast::net
