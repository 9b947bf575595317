#include "cli/serve/look.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace holdfast::cli {
namespace {

constexpr std::size_t most_names = 100;

class clients_by_id {
 public:
  void add(const holder& who) { (void)of(who); }
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

void name_clients(lock_status& lock) {
  if (lock.dialect != "holdfast") return;
  const auto shorten = [](holder& who) { who.id = who.id.substr(0, who.id.find('-')); };
  shorten(lock.owner);
  for (auto& one : lock.holders) shorten(one.who);
  for (auto& one : lock.queue) shorten(one.who);
}

void sum_up(look& seen, const client_listing& registered) {
  clients_by_id clients;
  for (const auto& one : registered.clients) clients.add(one.who);
  for (auto& lock : seen.locks.locks) {
    name_clients(lock);
    seen.waiters += lock.waiting;
    if (lock.now) seen.now = std::max(seen.now, lock.now);
    for (const auto& one : lock.holders) clients.holds(one.who, lock.name);
    for (const auto& one : lock.queue) clients.waits(one.who, lock.name);
  }
  seen.clients = std::move(clients).all();
  seen.clients_complete = registered.complete;
  seen.unseen_clients = registered.unseen;
  seen.waits = make_waits_graph(seen.locks.locks);
}

}  // namespace holdfast::cli
