// The connections of the HTTP server, and how long each may take.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>

namespace holdfast::cli::http {

// Why an own table: the library ends connections that send nothing for a while, but a client that
// sends a byte now and then, or reads as slowly, would keep its place for ever. And a crowd of
// silent clients would keep others out until their time is over: so the oldest of those that have
// not asked gives way when many are there.
//
// A connection is ended by shutdown(2). Its owner notices, closes it, and removes it here.
class visitors {
 public:
  using milliseconds = std::chrono::milliseconds;

  struct limits {
    milliseconds to_ask{3'000};      // for the whole of a request's head; also idle between two
    milliseconds to_listen{15'000};  // from the request until the answer was read
    std::size_t crowd = 128;         // with more, the oldest that has not asked gives way
  };

  class visitor {
    friend class visitors;
    int socket = -1;
    milliseconds until{0};
    bool has_asked = false;
    bool is_ended = false;
    std::list<visitor>::iterator self;
  };

  explicit visitors(limits bounds) : bounds_(bounds) {}

  visitor* add(int socket, milliseconds now);
  void asked(visitor& who, milliseconds now);     // its request is complete
  void answered(visitor& who, milliseconds now);  // it may ask again
  void remove(visitor& who);

  void end_late_ones(milliseconds now);
  std::size_t size() const noexcept { return all_.size(); }

 private:
  void end(visitor& who);
  void make_room();

  limits bounds_;
  std::list<visitor> all_;  // in the order in which they came, or were answered last
  std::size_t ended_ = 0;   // but not yet removed
};

}  // namespace holdfast::cli::http
