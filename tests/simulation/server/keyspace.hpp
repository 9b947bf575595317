// The keys of a simulated server and the commands on them. Knows neither connections nor scripts.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "redis/resp/value.hpp"

namespace holdfast::simulation {

using words = std::span<const std::string_view>;

resp::value error(std::string text);

// Scores as Redis prints them: "%.17g".
std::string printed(double score);

class keyspace {
 public:
  // Runs a command that touches only keys, at a wall time; null when it knows no such command.
  // Answers have the shape of RESP3, or of RESP2 as scripts see them.
  std::optional<resp::value> run(words command, std::chrono::microseconds now, bool resp3);
  void clear() { entries_.clear(); }
  // HSCAN tells so many elements at a time: few, so that a few are several pages. Redis tells all
  // of a small hash at once.
  void set_page(std::size_t elements) noexcept { page_ = elements; }

  using sorted_set = std::vector<std::pair<double, std::string>>;  // sorted
  // Null when there is none at that time.
  const sorted_set* sorted_set_at(std::string_view key, std::chrono::microseconds now);
  // Those that end by themselves, in the order of their names; a server may evict them.
  std::vector<std::string> ending_keys() const;
  void evict(std::string_view key) { erase(key); }
  // Those that do not end by themselves.
  std::vector<std::string> lasting_keys() const;
  // Texts, and members of sets and hashes, as long as they are not cleared away.
  std::size_t elements() const;

 private:
  // In the order of insertion, as Redis keeps small hashes.
  using hash = std::vector<std::pair<std::string, std::string>>;
  struct entry {
    std::variant<std::string, sorted_set, hash> content;
    std::optional<std::int64_t> expires{};  // wall time in ms
  };
  struct hasher {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };

  void set_time(std::chrono::microseconds now);
  entry* find(std::string_view key);
  void erase(std::string_view key);
  entry& make(std::string_view key, entry fresh);

  resp::value on_keys(words command, bool& known);
  resp::value on_strings(words command, bool& known);
  resp::value on_sorted_sets(words command, bool& known);
  resp::value on_hashes(words command, bool& known);
  resp::value page(words command, const hash* fields) const;
  resp::value set(words command);
  resp::value set_many(words command);
  resp::value increase(words command);
  resp::value expire(std::string_view key, std::string_view time, std::int64_t since);
  resp::value add_scores(words command, sorted_set* zset);
  resp::value pop_least(words command, sorted_set* zset);
  resp::value range(words command, const sorted_set& zset) const;
  resp::value between(words command, const sorted_set& zset) const;
  void add_member(resp::value& answer, const sorted_set::value_type& one, bool scores) const;
  resp::value score(double value) const;

  std::unordered_map<std::string, entry, hasher, std::equal_to<>> entries_;
  std::size_t page_ = 4;
  std::int64_t now_ = 0;  // ms
  std::chrono::microseconds time_{};
  bool resp3_ = false;
};

}  // namespace holdfast::simulation
