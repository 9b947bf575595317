#include "cli/serve/waits_graph.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr auto unseen = std::numeric_limits<std::size_t>::max();

using edges = std::vector<waits_graph::edge>;
using ids = std::set<std::string>;

// The edges of one lock for which `wanted` says so; false when there is no room for all of them.
template <typename Wanted>
bool add_edges(const lock_status& lock, std::size_t most, Wanted wanted, edges& all) {
  const bool any_will_do = lock.kind == lock_kind::semaphore && lock.holding > 1;
  for (const auto& waits : lock.queue) {
    for (const auto& has : lock.holders) {
      if (waits.who.id.empty() || has.who.id.empty() || waits.who.id == has.who.id) continue;
      if (!wanted(waits.who.id, has.who.id)) continue;
      if (all.size() >= most) return false;
      all.push_back({waits.who.id, has.who.id, lock.name, any_will_do});
    }
  }
  return true;
}

// Only these can be in a ring.
ids those_who_hold_and_wait(const std::vector<lock_status>& locks) {
  ids holding, both;
  for (const auto& lock : locks) {
    for (const auto& has : lock.holders) holding.insert(has.who.id);
  }
  for (const auto& lock : locks) {
    for (const auto& waits : lock.queue) {
      if (holding.contains(waits.who.id)) both.insert(waits.who.id);
    }
  }
  return both;
}

// The strongly connected components of more than one node (Tarjan), without recursion: a chain may
// be as long as there are edges.
class rings {
 public:
  explicit rings(std::vector<std::vector<std::size_t>> next)
      : next_(std::move(next)),
        order_(next_.size(), unseen),
        low_(next_.size(), 0),
        is_open_(next_.size(), false) {}

  std::vector<std::vector<std::size_t>> find() {
    for (std::size_t node = 0; node < next_.size(); ++node) {
      if (order_[node] == unseen) explore(node);
    }
    return std::move(found_);
  }

 private:
  struct step {
    std::size_t node;
    std::size_t tried = 0;  // edges
  };

  void explore(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      auto& [node, tried] = path_.back();
      if (tried == next_[node].size()) {
        leave();
        continue;
      }
      const auto to = next_[node][tried++];
      if (order_[to] == unseen) {
        enter(to);
      } else if (is_open_[to]) {
        low_[node] = std::min(low_[node], order_[to]);
      }
    }
  }

  void enter(std::size_t node) {
    order_[node] = low_[node] = entered_++;
    is_open_[node] = true;
    open_.push_back(node);
    path_.push_back({node});
  }

  void leave() {
    const auto node = path_.back().node;
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != order_[node]) return;
    // From the back: what is passed is removed, so that all searches together are linear.
    const auto first = std::find(open_.rbegin(), open_.rend(), node).base() - 1;
    for (auto one = first; one != open_.end(); ++one) is_open_[*one] = false;
    if (open_.end() - first > 1) found_.emplace_back(first, open_.end());
    open_.erase(first, open_.end());
  }

  const std::vector<std::vector<std::size_t>> next_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> low_;
  std::vector<bool> is_open_;
  std::vector<std::size_t> open_;
  std::vector<step> path_;
  std::size_t entered_ = 0;
  std::vector<std::vector<std::size_t>> found_;
};

std::vector<std::vector<std::string>> cycles_of(const edges& all) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> names;
  const auto number_of = [&](const std::string& id) {
    const auto [known, is_new] = numbers.emplace(id, names.size());
    if (is_new) names.push_back(id);
    return known->second;
  };
  std::vector<std::vector<std::size_t>> next;
  for (const auto& edge : all) {
    // Whichever of them lets go, the wait is over: such an edge closes no ring.
    if (edge.any_holder_will_do) continue;
    const auto from = number_of(edge.from), to = number_of(edge.to);
    next.resize(names.size());
    next[from].push_back(to);
  }
  std::vector<std::vector<std::string>> cycles;
  for (const auto& ring : rings{std::move(next)}.find()) {
    auto& members = cycles.emplace_back();
    for (const auto node : ring) members.push_back(names[node]);
    std::ranges::sort(members);
  }
  std::ranges::sort(cycles);
  return cycles;
}

void add_nodes(const std::vector<lock_status>& locks, waits_graph& graph) {
  ids shown;
  for (const auto& edge : graph.edges) {
    shown.insert(edge.from);
    shown.insert(edge.to);
  }
  std::map<std::string, holder> nodes;
  const auto add = [&](const holder& who) {
    if (shown.contains(who.id)) nodes.emplace(who.id, who);
  };
  for (const auto& lock : locks) {
    for (const auto& has : lock.holders) add(has.who);
    for (const auto& waits : lock.queue) add(waits.who);
  }
  for (auto& [id, who] : nodes) graph.nodes.push_back(std::move(who));
}

}  // namespace

// Rings are looked for first, among all who can be in one: what is not shown must not hide them.
waits_graph make_waits_graph(const std::vector<lock_status>& locks, std::size_t most_edges) {
  constexpr std::size_t most_searched = 1'000'000;
  waits_graph graph;
  const auto both = those_who_hold_and_wait(locks);
  edges searched;
  for (const auto& lock : locks) {
    const bool all_shown = lock.waiting <= lock.queue.size() || lock.holders.empty();
    const auto may_close_one = [&](const std::string& from, const std::string& to) {
      return both.contains(from) && both.contains(to);
    };
    if (!all_shown || !add_edges(lock, most_searched, may_close_one, searched)) {
      graph.complete = false;
    }
  }
  graph.cycles = cycles_of(searched);
  ids ringed;
  for (const auto& ring : graph.cycles) ringed.insert(ring.begin(), ring.end());
  const auto is_of_a_ring = [&](const std::string& from, const std::string& to) {
    return ringed.contains(from) && ringed.contains(to);
  };
  const auto is_of_none = [&](const std::string& from, const std::string& to) {
    return !is_of_a_ring(from, to);
  };
  for (const auto& lock : locks) {
    if (!add_edges(lock, most_edges, is_of_a_ring, graph.edges)) graph.complete = false;
  }
  for (const auto& lock : locks) {
    if (!add_edges(lock, most_edges, is_of_none, graph.edges)) graph.complete = false;
  }
  add_nodes(locks, graph);
  return graph;
}

}  // namespace holdfast::cli
