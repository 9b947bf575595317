// A program whose own static object, made before all of the library's, uses everything once more
// when it is destroyed.
//
//   user_at_exit URL
//
// Exit code 0 and "all again": what worked in main() works in a static destructor, too.
#include <unistd.h>

#include <exception>
#include <iostream>
#include <optional>

#include "faults/everything.hpp"

namespace {

using holdfast::faults::use_everything;

struct user {
  ~user() {
    if (!redis) return;
    try {
      use_everything(*redis);
      std::cout << "all again\n" << std::flush;
    } catch (const std::exception& wrong) {
      std::cerr << wrong.what() << '\n' << std::flush;
      _exit(1);
    }
  }
  std::optional<holdfast::client> redis;
} first;

}  // namespace

int main(int, char** argv) {
  first.redis.emplace(argv[1]);
  use_everything(*first.redis);
}
