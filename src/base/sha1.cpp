#include "base/sha1.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace holdfast {
namespace {

using words = std::array<std::uint32_t, 5>;
constexpr std::size_t block_size = 64;

void digest_block(std::string_view block, words& state) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < block_size; ++i) {
    w[i / 4] = w[i / 4] << 8 | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t i = 16; i < w.size(); ++i) {
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint32_t mixed = 0;
    if (i < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999;
    } else if (i < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1;
    } else if (i < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d, state[4] + e};
}

}  // namespace

std::string sha1_hex(std::string_view bytes) {
  std::string rest{bytes.substr(bytes.size() / block_size * block_size)};
  rest += '\x80';
  while (rest.size() % block_size != block_size - 8) rest += '\0';
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) rest += static_cast<char>(bits >> shift);

  words state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (; bytes.size() >= block_size; bytes.remove_prefix(block_size)) digest_block(bytes, state);
  for (std::size_t at = 0; at < rest.size(); at += block_size) {
    digest_block(std::string_view{rest}.substr(at), state);
  }
  std::string hex;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

}  // namespace holdfast
