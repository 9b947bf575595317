// For the unit tests of this room: replies that no server should send.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <string>

#include "redis/resp/value.hpp"

namespace holdfast::dialects {

// Values of all kinds, made of the words and numbers that readers look for, so that many of them
// are nearly right.
class random_replies {
 public:
  explicit random_replies(std::uint64_t seed) : random_(seed) {}

  resp::value next(int depth = 0) {
    resp::value v;
    v.kind = static_cast<resp::type>(below(static_cast<int>(resp::type::push) + 1));
    if (depth == 0 && below(2) == 0) v.kind = resp::type::array;
    v.number = number();
    v.text = text();
    if (depth < 3) {
      for (int more = below(5); more > 0; --more) v.items.push_back(next(depth + 1));
    }
    return v;
  }

 private:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  std::int64_t number() {
    static constexpr std::int64_t telling[] = {0,
                                               1,
                                               -1,
                                               2,
                                               30'000,
                                               1'795'240'014'867'674,
                                               -30'000,
                                               INT64_MAX,
                                               INT64_MIN,
                                               INT64_MIN + 1,
                                               std::int64_t{1} << 52,
                                               (std::int64_t{1} << 52) + 1,
                                               std::int64_t{1} << 53};
    return telling[below(std::size(telling))];
  }

  std::string text() {
    static constexpr const char* telling[] = {"",
                                              "OK",
                                              "mine",
                                              "late",
                                              "foreign",
                                              "persistent",
                                              "layout",
                                              "skew",
                                              "counter",
                                              "broken",
                                              "free",
                                              "none",
                                              "string",
                                              "list",
                                              "host",
                                              "pid",
                                              "since",
                                              "-5",
                                              "0",
                                              "17",
                                              "4503599627370497",
                                              "99999999999999999999",
                                              "1:17:0f1e2d3c4b5a69788796a5b4c3d2e1f0-2a",
                                              "1:0:x",
                                              "1::x",
                                              "1:17:",
                                              "2:17:x",
                                              "1:",
                                              ":",
                                              "OOM command not allowed",
                                              "WRONGTYPE Operation",
                                              "NOSCRIPT x",
                                              "\xff\n"};
    return telling[below(std::size(telling))];
  }

  std::mt19937_64 random_;
};

}  // namespace holdfast::dialects
