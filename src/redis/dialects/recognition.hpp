// Guesses the library whose lock a key is, from the key's name, type and content.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/dialects/foreign_recipe.hpp"

namespace holdfast::dialects {

// How many keys may be looked at in one command.
inline constexpr std::size_t look_batch = 100;

enum class kept_as : std::uint8_t { text, hash, sorted_set };

// The content of a key that could be a lock.
struct kept {
  std::string_view key;
  kept_as type = kept_as::text;
  // A text, or fields, each with its value; of a sorted set members, each with in how many ms the
  // time that it has is.
  std::vector<std::string> words{};
  std::optional<milliseconds> remaining{};  // nothing: it has no expiry
};

struct recognised {
  std::string dialect;  // as the program's --dialect takes it
  std::string name;     // of the lock, in that dialect
  const foreign_recipe* layout = nullptr;
  foreign_holders holders{};
  std::string remark{};  // says what is not known of it
};

// Nothing: no lock that is known here.
std::optional<recognised> recognise(const kept& what);

// The keys that libraries make of a name, the name itself among them. That of a Spring registry
// cannot be guessed.
std::vector<std::string> keys_of(std::string_view name);
// Recognises what one of these keys holds. At the name itself any text may be a lock.
std::optional<recognised> recognise_for(std::string_view name, const kept& what);

void write_look(std::span<const std::string> keys, resp::writer& out);
// The keys that could be locks, or why that is not known.
std::variant<std::vector<kept>, refused> read_look(std::span<const std::string> keys,
                                                   const resp::value& reply);

}  // namespace holdfast::dialects
