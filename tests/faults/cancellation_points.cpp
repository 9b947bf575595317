#include "faults/cancellation_points.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace holdfast::faults {
namespace {

thread_local bool is_watched = false;
std::atomic<unsigned long> points{0};

struct notes {
  std::mutex guard;
  std::set<std::string> names;
};

// Never destroyed: other threads may still call what stands below when the program ends.
notes& all() {
  static auto& made = *new notes;
  return made;
}

}  // namespace

cancellation_watch::cancellation_watch() noexcept { is_watched = true; }
cancellation_watch::~cancellation_watch() { is_watched = false; }

std::set<std::string> cancellation_watch::seen() {
  const std::lock_guard lock(all().guard);
  return all().names;
}

unsigned long cancellation_watch::reached() noexcept { return points; }

#ifndef HOLDFAST_SANITIZED

namespace {

void pass(const char* name) {
  if (!is_watched) return;
  ++points;
  int state = 0;
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  if (state == PTHREAD_CANCEL_ENABLE) {
    const std::lock_guard lock(all().guard);
    all().names.insert(name);
  }
  ::pthread_setcancelstate(state, nullptr);
}

// Of two versions of a function the newer one.
template <typename Function>
Function next(const char* name, const char* version = nullptr) {
  void* found = version == nullptr ? nullptr : ::dlvsym(RTLD_NEXT, name, version);
  if (found == nullptr) found = ::dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

// These stand before those of libc, for whoever calls them in this program.
#define HOLDFAST_WATCHED(result, name, parameters, arguments)   \
  extern "C" result name parameters {                           \
    static const auto real = next<result(*) parameters>(#name); \
    pass(#name);                                                \
    return real arguments;                                      \
  }
#define HOLDFAST_WATCHED_VERSION(result, name, version, parameters, arguments) \
  extern "C" result name parameters {                                          \
    static const auto real = next<result(*) parameters>(#name, version);       \
    pass(#name);                                                               \
    return real arguments;                                                     \
  }

HOLDFAST_WATCHED(ssize_t, read, (int fd, void* into, size_t size), (fd, into, size))
HOLDFAST_WATCHED(ssize_t, write, (int fd, const void* from, size_t size), (fd, from, size))
HOLDFAST_WATCHED(int, close, (int fd), (fd))
HOLDFAST_WATCHED(int, poll, (pollfd * all, nfds_t count, int timeout), (all, count, timeout))
HOLDFAST_WATCHED(int, ppoll,
                 (pollfd * all, nfds_t count, const timespec* timeout, const sigset_t* mask),
                 (all, count, timeout, mask))
HOLDFAST_WATCHED(int, connect, (int fd, const sockaddr* to, socklen_t size), (fd, to, size))
HOLDFAST_WATCHED(ssize_t, send, (int fd, const void* from, size_t size, int flags),
                 (fd, from, size, flags))
HOLDFAST_WATCHED(ssize_t, recv, (int fd, void* into, size_t size, int flags),
                 (fd, into, size, flags))
HOLDFAST_WATCHED(ssize_t, getrandom, (void* into, size_t size, unsigned flags), (into, size, flags))
HOLDFAST_WATCHED(pid_t, waitpid, (pid_t which, int* status, int options), (which, status, options))
HOLDFAST_WATCHED(int, pthread_join, (pthread_t which, void** result), (which, result))
HOLDFAST_WATCHED(int, pthread_cond_clockwait,
                 (pthread_cond_t * on, pthread_mutex_t* with, clockid_t of, const timespec* until),
                 (on, with, of, until))
HOLDFAST_WATCHED_VERSION(int, pthread_cond_wait, "GLIBC_2.3.2",
                         (pthread_cond_t * on, pthread_mutex_t* with), (on, with))
HOLDFAST_WATCHED_VERSION(int, pthread_cond_timedwait, "GLIBC_2.3.2",
                         (pthread_cond_t * on, pthread_mutex_t* with, const timespec* until),
                         (on, with, until))
HOLDFAST_WATCHED(int, nanosleep, (const timespec* time, timespec* left), (time, left))
HOLDFAST_WATCHED(int, clock_nanosleep,
                 (clockid_t of, int flags, const timespec* time, timespec* left),
                 (of, flags, time, left))
HOLDFAST_WATCHED(FILE*, fopen, (const char* path, const char* mode), (path, mode))
HOLDFAST_WATCHED(int, getaddrinfo,
                 (const char* host, const char* port, const addrinfo* hints, addrinfo** found),
                 (host, port, hints, found))

extern "C" int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, mode_t)>("open");
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  pass("open");
  return real(path, flags, mode);
}

extern "C" int openat(int folder, const char* path, int flags, ...) {
  static const auto real = next<int (*)(int, const char*, int, mode_t)>("openat");
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  pass("openat");
  return real(folder, path, flags, mode);
}

#endif

}  // namespace holdfast::faults
