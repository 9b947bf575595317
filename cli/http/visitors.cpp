#include "cli/http/visitors.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <iterator>

namespace holdfast::cli::http {

visitors::visitor* visitors::add(int socket, milliseconds now) {
  make_room();
  auto& one = all_.emplace_back();
  one.socket = socket;
  one.until = now + bounds_.to_ask;
  one.self = std::prev(all_.end());
  return &one;
}

void visitors::asked(visitor& who, milliseconds now) {
  who.has_asked = true;
  who.until = now + bounds_.to_listen;
}

void visitors::answered(visitor& who, milliseconds now) {
  who.has_asked = false;
  who.until = now + bounds_.to_ask;
  all_.splice(all_.end(), all_, who.self);
}

void visitors::remove(visitor& who) {
  if (who.is_ended) --ended_;
  all_.erase(who.self);
}

void visitors::end_late_ones(milliseconds now) {
  for (auto& one : all_) {
    if (one.until <= now) end(one);
  }
}

void visitors::end(visitor& who) {
  if (who.is_ended) return;
  who.is_ended = true;
  ++ended_;
  ::shutdown(who.socket, SHUT_RDWR);
}

void visitors::make_room() {
  if (all_.size() - ended_ < bounds_.crowd) return;
  const auto oldest = std::ranges::find_if(
      all_, [](const visitor& one) { return !one.has_asked && !one.is_ended; });
  if (oldest != all_.end()) end(*oldest);
}

}  // namespace holdfast::cli::http
