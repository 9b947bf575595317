// The limit of a fair hand-over: sockets and scripts that can do no more than pass a lock on.
#pragma once

#include <cstdint>
#include <string>

#include "support/raw_client.hpp"

namespace holdfast::bench {

// A waiter in it, on a connection of its own, where it hears of its turn. Nobody may give up, die,
// or come too late; nothing is renewed; a message that is lost is waited for for ever. Not
// thread-safe.
class bare_queue {
 public:
  bare_queue(std::uint16_t port, std::string name, int me);

  class turn {
   public:
    explicit turn(bare_queue& of) : of_(of) {}
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { of_.pass_on(); }

   private:
    bare_queue& of_;
  };

  turn take_turn();

 private:
  void pass_on();

  raw_client socket_;
  const std::string name_, me_;
  std::string take_sha1_, pass_sha1_;
};

}  // namespace holdfast::bench
