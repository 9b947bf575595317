/* Loaded into a server by LD_PRELOAD: its wall clock runs ahead by a number of nanoseconds that
 * another process keeps in the file HOLDFAST_CLOCK_SHIM, or stands still at the time that is
 * written behind it, unless that is 0. Its monotonic clocks stay true.
 *
 * In C, so that no sanitizer of the C++ code gets into the server. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct shown {
  _Atomic int64_t ahead;
  _Atomic int64_t stopped_at;
};
static const struct shown true_time = {0, 0};
static const struct shown* shown = &true_time;

__attribute__((constructor)) static void attach(void) {
  const char* path = getenv("HOLDFAST_CLOCK_SHIM");
  const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void* mapped = mmap(NULL, sizeof *shown, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shown = mapped;
  close(fd);
}

static int is_wall_clock(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int64_t second = 1000000000;
  const long result = syscall(SYS_clock_gettime, clock, now);
  if (result != 0 || !is_wall_clock(clock)) return (int)result;
  const int64_t stopped_at = shown->stopped_at;
  const int64_t running = now->tv_sec * second + now->tv_nsec + shown->ahead;
  const int64_t shifted = stopped_at != 0 ? stopped_at : running;
  now->tv_sec = shifted / second;
  now->tv_nsec = shifted % second;
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* now) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != NULL) *now = precise.tv_sec;
  return precise.tv_sec;
}
