#include "lease/cycle.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>

#include "base/lock_key.hpp"
#include "base/printable.hpp"

namespace holdfast::leasing {
namespace {

using substrate::held_lock;
using substrate::known_wait;
using substrate::link_of_cycle;

// The holders of each lock, and the way on which the search came to each wait.
class search {
 public:
  explicit search(const std::vector<known_wait>& all) : all_(all), came_(all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const auto& one : all[i].holds) holders_.emplace(one.key, holder{i, &one});
    }
  }

  // In breadth, so that the cycle is a shortest one.
  std::vector<link_of_cycle> from(std::size_t first) {
    std::vector<std::size_t> reached{first};
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const auto at = reached[next];
      const auto [begin, end] = holders_.equal_range(all_[at].wants.key);
      for (auto it = begin; it != end; ++it) {
        const auto& [who, held] = it->second;
        if (!must_wait_for(all_[at].wants, *held)) continue;
        if (who == first) return way_back(first, at, held);
        if (came_[who]) continue;
        came_[who] = step{at, held};
        reached.push_back(who);
      }
    }
    return {};
  }

 private:
  struct holder {
    std::size_t who;
    const held_lock* held;
  };
  struct step {
    std::size_t from;
    const held_lock* held;
  };

  std::vector<link_of_cycle> way_back(std::size_t first, std::size_t last, const held_lock* held) {
    std::vector<link_of_cycle> cycle{{&all_[last], held}};
    for (auto at = last; at != first; at = came_[at]->from) {
      cycle.push_back({&all_[came_[at]->from], came_[at]->held});
    }
    std::ranges::reverse(cycle);
    return cycle;
  }

  const std::vector<known_wait>& all_;
  std::vector<std::optional<step>> came_;
  std::unordered_multimap<std::string_view, holder> holders_;
};

// Of a lock in any key space, none of which has a brace before the name.
std::string name_of(std::string_view key) {
  const auto before = key.find('{') + 1;
  return "'" + printable(decode_name(key.substr(before, key.size() - before - 1))) + "'";
}

}  // namespace

bool must_wait_for(const substrate::lock_in_mode& wanted, const held_lock& held) noexcept {
  if (wanted.key != held.key || wanted.mode == 'n' || held.mode == 'n') return false;
  return wanted.mode == 'x' || held.mode == 'x';
}

std::vector<link_of_cycle> find_cycle(const std::vector<known_wait>& all, std::string_view first) {
  const auto at = std::ranges::find(all, first, &known_wait::id);
  if (at == all.end()) return {};
  auto cycle = search{all}.from(static_cast<std::size_t>(at - all.begin()));
  if (cycle.size() > longest_cycle) cycle.clear();
  return cycle;
}

std::string describe(const std::vector<link_of_cycle>& cycle) {
  const auto& self = printable(cycle.front().waits->who);
  std::string text = "this thread of " + self + " waits for ";
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    text += name_of(cycle[i].waits->wants.key) + ", which ";
    if (i + 1 == cycle.size()) return text + "this thread holds";
    text += printable(cycle[i + 1].waits->who) + " holds, waiting for ";
  }
  return text;
}

}  // namespace holdfast::leasing
