// The parser on arbitrary bytes: it never crashes, and what it calls complete is exactly that.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "redis/resp/parser.hpp"

namespace {

using holdfast::resp::arrival;
using holdfast::resp::parse;
using holdfast::resp::parse_result;
using holdfast::resp::value;
using outcome = parse_result::outcome;

// Trying every prefix of an input costs its square: only for short ones.
constexpr std::size_t longest_to_cut = 256;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_prefixes(std::string_view bytes) {
  value part;
  arrival coming;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    require(parse(bytes.substr(0, size), part).what == outcome::need_more);
    require(coming.look(bytes.substr(0, size)) == outcome::need_more);
    require(coming.missing() > 0 && coming.missing() <= bytes.size() - size);
  }
  require(coming.look(bytes) == outcome::complete);
}

// An `arrival` that follows a value in parts must come to the same end as parse().
void check_arrival(std::string_view bytes, outcome parsed) {
  const auto what = arrival{}.look(bytes);
  if (parsed == outcome::need_more) require(what != outcome::complete);
  if (parsed == outcome::complete) require(what == outcome::complete);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  static value reused;  // As a connection reuses it: what one reply leaves must not touch the next.
  const parse_result first = parse(bytes, reused);
  check_arrival(bytes, first.what);
  if (first.what != outcome::complete) {
    require(first.consumed == 0);
    return 0;
  }
  require(first.consumed > 0 && first.consumed <= size);
  const std::string_view taken = bytes.substr(0, first.consumed);
  value fresh;
  const parse_result second = parse(taken, fresh);
  require(second.what == outcome::complete && second.consumed == first.consumed);
  require(fresh == reused);
  require(to_string(fresh).size() <= 256);
  if (size < longest_to_cut) check_prefixes(taken);
  return 0;
}
