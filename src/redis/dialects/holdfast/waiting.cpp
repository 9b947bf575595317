#include "redis/dialects/holdfast/waiting.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/layout.hpp"

namespace holdfast::dialects {
namespace {

// Takes the text up to the next space off `rest`.
std::string_view next_word(std::string_view& rest) noexcept {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::optional<std::uint64_t> read_request(const client_id& client, std::string_view text) noexcept {
  if (!text.starts_with(client.text())) return std::nullopt;
  text.remove_prefix(client.text().size());
  if (!text.starts_with('-')) return std::nullopt;
  if (text.ends_with('r')) text.remove_suffix(1);
  return parse_number<std::uint64_t>(text.substr(1), 16);
}

char letter_of(family whose) noexcept {
  switch (whose) {
    case family::mutex:
      return 'o';
    case family::latch:
      return 'l';
    case family::barrier:
      return 'b';
    case family::none:
    case family::several:
      return '\0';
  }
  return '\0';
}

family family_told(std::string_view word) noexcept {
  if (word == "grant") return family::mutex;
  if (word == "shared") return family::several;
  if (word == "opened") return family::latch;
  if (word == "complete") return family::barrier;
  return family::none;
}

// With the longest lock_delay.
constexpr std::uint64_t largest_claim = 1'000 + 3'600'000;

// Also after a full lease; a waiter asks before a longer time is over.
std::optional<channel_message> read_first_in_line(std::uint64_t request, std::string_view text) {
  const auto owner_has = parse_number<std::uint64_t>(text);
  if (!owner_has) return std::nullopt;
  return first_in_line{request, milliseconds(std::min(*owner_has, largest_claim))};
}

}  // namespace

void write_key(const lock_key& key, std::string_view suffix, resp::writer& out) {
  out.arg({key.opening(), key.encoded(), "}", suffix});
}

void write_keys(const lock_key& key, resp::writer& out) {
  for (const std::string_view end : {"}", "}:w", "}:i"}) {
    out.arg({key.opening(), key.encoded(), end});
  }
  std::array<char, 10> tag;
  const auto end = std::to_chars(tag.data(), tag.data() + tag.size(), slot_number(key.slot())).ptr;
  out.arg({key.prefix(), "fence:{", std::string_view{tag.data(), end}, "}"});
}

place_suffix::place_suffix(family whose, const claim& waiting) noexcept {
  char* at = text_.data();
  *at++ = ':';
  if (const char letter = letter_of(whose)) *at++ = letter;
  const milliseconds claim = claim_time(waiting) + waiting.delay;
  at = std::to_chars(at, text_.data() + text_.size(), claim.count()).ptr;
  *at++ = ':';
  *at++ = waiting.way == wakeup_way::poll ? 'p' : '-';
  at = put_proof(waiting.proof, at);
  size_ = static_cast<std::uint8_t>(at - text_.data());
}

family family_of_place(char letter) noexcept {
  for (const family one : {family::mutex, family::latch, family::barrier}) {
    if (letter == letter_of(one)) return one;
  }
  constexpr std::string_view demands = "ncdrpxus";
  return demands.find(letter) == demands.npos ? family::none : family::several;
}

std::string channel_of(const key_space& space, const client_id& client) {
  return space.named("c:").append(client.text());
}

std::string channel_of(const client_id& client, const lock_key& lock) {
  auto channel = std::string{lock.prefix()}.append("c:").append(client.text());
  return channel.append(":{").append(lock.encoded()).append("}");
}

bool is_for(const handed_over& what, family whose, const claim& waiting) {
  return what.request == waiting.owner.counter() && what.proof == waiting.proof &&
         what.of == whose && what.name == waiting.key->name();
}

bool is_plausible(const handed_over& what, const claim& waiting) noexcept {
  const auto time = static_cast<token_major>(what.at.time_since_epoch().count());
  return what.claim <= claim_time(waiting) + waiting.delay &&
         what.major <= time + static_cast<token_major>(longest_lead.count());
}

std::optional<channel_message> read_message(const key_space& space, const client_id& client,
                                            std::string_view message) {
  const std::string_view word = next_word(message);
  const std::string_view owner = next_word(message);
  const auto request = read_request(client, owner);
  if (word == "wanted" && request) return wanted{*request};
  if (word == "free" && request) return freed{*request};
  if (word == "next" && request) return read_first_in_line(*request, next_word(message));
  const family whose = family_told(word);
  if (whose == family::none) return std::nullopt;
  const auto major = parse_number<std::uint64_t>(next_word(message));
  const auto claim = parse_number<std::uint64_t>(next_word(message));
  const auto at = parse_number<std::uint64_t>(next_word(message));
  const auto proof = parse_number<std::uint64_t>(next_word(message), 16);
  auto name = name_in(space, message);
  const bool complete = request && major && claim && at && proof && name;
  if (!complete || *major > largest_major || *at > largest_major) return std::nullopt;
  if (*claim > largest_claim) return std::nullopt;
  return handed_over{
      *request, owner.ends_with('r'), whose,
      *major,   milliseconds(*claim), server_time(microseconds(static_cast<std::int64_t>(*at))),
      *proof,   *std::move(name)};
}

}  // namespace holdfast::dialects
