#include "cli/serve/look.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::size_t most_names = 100;

class clients_by_id {
 public:
  void holds(const holder& who, const std::string& name) {
    auto& one = of(who);
    note(one.holds, one.holding, name);
  }
  void waits(const holder& who, const std::string& name) {
    auto& one = of(who);
    note(one.waits, one.waiting, name);
  }
  std::vector<client_view> all() && {
    std::vector<client_view> list;
    for (auto& [id, one] : all_) list.push_back(std::move(one));
    return list;
  }

 private:
  client_view& of(const holder& who) {
    auto& one = all_[who.id];
    if (one.who.host.empty()) one.who = who;  // another lock may tell more of it
    return one;
  }
  static void note(std::vector<std::string>& names, std::size_t& count, const std::string& name) {
    ++count;
    if (names.size() < most_names) names.push_back(name);
  }

  std::map<std::string, client_view> all_;
};

}  // namespace

std::optional<look::time_point> server_time(const lock_status&) { return std::nullopt; }

void name_clients(lock_status& lock) {
  if (lock.dialect != "holdfast") return;
  const auto shorten = [](holder& who) { who.id = who.id.substr(0, who.id.find('-')); };
  shorten(lock.owner);
  for (auto& one : lock.holders) shorten(one.who);
  for (auto& one : lock.queue) shorten(one.who);
}

void sum_up(look& seen) {
  clients_by_id clients;
  for (auto& lock : seen.locks.locks) {
    name_clients(lock);
    seen.waiters += lock.waiting;
    if (const auto then = server_time(lock))
      seen.now = seen.now ? std::max(*seen.now, *then) : *then;
    for (const auto& one : lock.holders) clients.holds(one.who, lock.name);
    for (const auto& one : lock.queue) clients.waits(one.who, lock.name);
  }
  seen.clients = std::move(clients).all();
  seen.waits = make_waits_graph(seen.locks.locks);
}

}  // namespace holdfast::cli
