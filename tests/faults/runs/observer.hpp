// Looks at leases from outside, through what every user of `lease` can call, and tells what they
// say. It knows nothing of recipes and machines, and never asks a server.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include <holdfast/lease.hpp>

#include "faults/runs/recorder.hpp"
#include "support/modes.hpp"

namespace holdfast::faults {

// None of a lease that is not held, and of permits.
inline std::optional<support::mode> mode_of(const lease& one) {
  return support::mode_of(static_cast<char>(one.mode()));
}

// What a lease says of itself: token, mode and until when. It was held in this mode before and
// after `time`, so it was held in it then, however slow this thread is. Nothing: it is not held, or
// becomes something else, or the look took too long to say anything.
std::optional<history::event> look_at(const lease& one);

// Thread safety: all members from any thread.
class observer {
  // Of a lease: what was told of it last, and what has been seen since.
  struct watched {
    const lease& one;
    history::event as;
    std::optional<history::event> told{}, seen{};
  };

 public:
  explicit observer(recorder& log);

  // A lease under observation, as long as this lives; meanwhile only its const members may be
  // called.
  class watch {
   public:
    // `as`: what all events of its acquisition have.
    watch(observer& by, const lease& one, history::event as);
    ~watch();
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

   private:
    observer& by_;
    std::list<watched>::iterator at_;
  };

 private:
  void observe(const std::stop_token& stop);
  void look(watched& at);
  void tell(watched& at);

  recorder& log_;
  std::mutex guard_;
  std::list<watched> all_;
  std::jthread thread_;
};

}  // namespace holdfast::faults
