#include "cli/serve/waits_graph.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr auto unseen = std::numeric_limits<std::size_t>::max();

// Adds the edges of one lock; false when there is no room for all of them.
bool add_edges(const lock_status& lock, std::size_t most, std::map<std::string, holder>& nodes,
               std::vector<waits_graph::edge>& edges) {
  const bool any_will_do = lock.kind == lock_kind::semaphore && lock.holding > 1;
  for (const auto& waits : lock.queue) {
    for (const auto& has : lock.holders) {
      if (waits.who.id.empty() || has.who.id.empty() || waits.who.id == has.who.id) continue;
      if (edges.size() >= most) return false;
      nodes.emplace(waits.who.id, waits.who);
      nodes.emplace(has.who.id, has.who);
      edges.push_back({waits.who.id, has.who.id, lock.name, any_will_do});
    }
  }
  return true;
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

std::vector<std::vector<std::string>> cycles_of(const waits_graph& graph) {
  std::map<std::string, std::size_t> numbers;
  for (const auto& node : graph.nodes) numbers.emplace(node.id, numbers.size());
  std::vector<std::vector<std::size_t>> next(graph.nodes.size());
  for (const auto& edge : graph.edges) {
    // Whichever of them lets go, the wait is over: such an edge closes no ring.
    if (!edge.any_holder_will_do) next[numbers[edge.from]].push_back(numbers[edge.to]);
  }
  std::vector<std::vector<std::string>> cycles;
  for (const auto& ring : rings{std::move(next)}.find()) {
    auto& ids = cycles.emplace_back();
    for (const auto node : ring) ids.push_back(graph.nodes[node].id);
    std::ranges::sort(ids);
  }
  std::ranges::sort(cycles);
  return cycles;
}

}  // namespace

waits_graph make_waits_graph(const std::vector<lock_status>& locks, std::size_t most_edges) {
  waits_graph graph;
  std::map<std::string, holder> nodes;
  for (const auto& lock : locks) {
    const bool all_shown = lock.waiting <= lock.queue.size() || lock.holders.empty();
    if (!all_shown) graph.complete = false;
    if (!add_edges(lock, most_edges, nodes, graph.edges)) {
      graph.complete = false;
      break;
    }
  }
  for (auto& [id, who] : nodes) graph.nodes.push_back(std::move(who));
  graph.cycles = cycles_of(graph);
  return graph;
}

}  // namespace holdfast::cli
