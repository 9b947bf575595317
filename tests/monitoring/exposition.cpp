// Prints everything that `holdfast::metrics` can show, so that documents and alerts can be compared
// with it. Asks no server: the events are made here.
#include <chrono>
#include <iostream>
#include <string>
#include <string_view>

#include <holdfast/metrics.hpp>

namespace {

using holdfast::errc;
using holdfast::event;
using holdfast::event_type;
using holdfast::lock_kind;

void refuse(holdfast::metrics& metrics, event what, errc why) {
  what.type = event_type::asked;
  metrics.on(what);
  what.type = event_type::refused;
  what.waited = true;
  what.error = why;
  metrics.on(what);
}

// One of each event that a lock of this kind could tell.
void tell(holdfast::metrics& metrics, lock_kind kind) {
  event what{.name = "orders", .kind = kind, .duration = std::chrono::seconds{1}};
  const auto one = [&](event_type type) {
    what.type = type;
    metrics.on(what);
  };
  for (const auto end : {event_type::lost, event_type::released}) {
    one(event_type::asked);
    one(event_type::granted);
    if (!holdfast::has_holders(kind)) continue;
    one(event_type::renewed_late);
    one(end);
  }
  for (const auto why : {errc::busy, errc::timed_out, errc::cancelled, errc::unavailable}) {
    refuse(metrics, what, why);
  }
}

}  // namespace

int main() {
  holdfast::metrics metrics{
      {.label = [](std::string_view name) { return std::string{name}; }, .most_labels = 1}};
  for (const auto kind :
       {lock_kind::unknown, lock_kind::mutex, lock_kind::mode_lock, lock_kind::semaphore,
        lock_kind::latch, lock_kind::barrier, lock_kind::several}) {
    tell(metrics, kind);
  }
  std::cout << metrics.text();
}
