// Which of many locks are wanted, in which order, and which page of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/inspector.hpp>

namespace holdfast::cli {

struct lock_query {
  enum class order_by { name, since, remaining, waiting };

  std::string prefix{};
  std::string contains{};
  std::optional<lock_state> state{};
  std::string kind{};  // as name_of(lock_kind); empty: all
  bool waited_for = false;
  order_by sort = order_by::name;
  bool descending = false;
  std::size_t page = 1;
  std::size_t per_page = 100;
};

// Throws std::invalid_argument that says what is wrong with it.
lock_query parse_lock_query(const std::map<std::string, std::string>& query);

struct lock_page {
  std::vector<const lock_status*> locks{};
  std::size_t total = 0;  // that match
  std::size_t pages = 1;
};

// Unknown times come last, whatever the order.
lock_page find_locks(const std::vector<lock_status>& all, const lock_query& wanted);

}  // namespace holdfast::cli
