// For the unit tests of this room: steps as text, e.g. "send acquire again; wake at 12000000 ns".
#pragma once

#include <string>
#include <string_view>

#include "lease/lease_machine.hpp"
#include "lease/step.hpp"

namespace holdfast::leasing {

inline std::string_view name_of(ask what) noexcept {
  switch (what) {
    case ask::nothing:
      return "nothing";
    case ask::acquire:
      return "acquire";
    case ask::release:
      return "release";
    case ask::lone_release:
      return "lone release";
    case ask::withdraw:
      return "withdraw";
  }
  return "?";
}

inline std::string in_nanoseconds(monotonic_time time) {
  return std::to_string(time.time_since_epoch().count()) + " ns";
}

template <class Outcome>
std::string failure_text(const Outcome& ended) {
  std::string text = make_error_code(*ended.code).message();
  return ended.detail.empty() ? text : ended.detail + ": " + text;
}

inline std::string text_of(const outcome& ended) {
  return ended.code ? failure_text(ended) : "released";
}

inline std::string text_of(const acquire_outcome& ended) {
  if (ended.code) return failure_text(ended);
  return "held until " + in_nanoseconds(ended.deadline) + ", major " +
         std::to_string(ended.grant.major) + ", ttl " + std::to_string(ended.grant.ttl.count()) +
         " ms";
}

template <class Outcome>
std::string text_of_step(const basic_step<Outcome>& what) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (what.send != ask::nothing) {
    add("send " + std::string(name_of(what.send)) + (what.resend ? " again" : ""));
  }
  if (what.wake_at) add("wake at " + in_nanoseconds(*what.wake_at));
  if (what.cannot_undo) add("what was changed is lost");
  if (what.learned) {
    add("the server's time is " + std::to_string(what.learned->time_since_epoch().count()) + " us");
  }
  if (what.done) add("done: " + text_of(*what.done));
  if (what.finished) add("finished");
  return text.empty() ? "nothing" : text;
}

inline std::string to_string(const step& what) { return text_of_step(what); }
inline std::string to_string(const release_step& what) { return text_of_step(what); }

inline std::string to_string(const lease_step& what) {
  std::string text = what.renew ? "renew" : "";
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (what.wake_at) {
    add("wake at " + std::to_string(what.wake_at->time_since_epoch().count()) + " ns");
  }
  if (what.lost) add("lost");
  return text.empty() ? "nothing" : text;
}

}  // namespace holdfast::leasing
