// A source of events that a waiting thread drives, so that its own event can come.
#pragma once

namespace holdfast::net {

class waiter;

// Thread safety: all members from any thread.
class event_source {
 public:
  // Lends the calling thread until `who`, whose home this is, is done. If the thread is cancelled
  // meanwhile, it ends after that.
  virtual void drive(waiter& who) noexcept = 0;

  // The waiter goes away although answers that name it may still come.
  virtual void forget(const waiter& who) = 0;

 protected:
  ~event_source() = default;
};

}  // namespace holdfast::net
