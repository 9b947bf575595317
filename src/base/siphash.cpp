#include "base/siphash.hpp"

#include <bit>

namespace holdfast {
namespace {

struct state {
  std::uint64_t v0, v1, v2, v3;

  void mix(int rounds) noexcept {
    while (rounds-- > 0) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }

  void take(std::uint64_t word) noexcept {
    v3 ^= word;
    mix(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash(const siphash_key& key, std::uint64_t number) noexcept {
  state all{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
            key[1] ^ 0x7465646279746573};
  all.take(number);
  all.take(std::uint64_t{8} << 56);  // the length of the message in bytes, and no bytes left
  all.v2 ^= 0xff;
  all.mix(4);
  return all.v0 ^ all.v1 ^ all.v2 ^ all.v3;
}

}  // namespace holdfast
