#include "redis/connection/master_watch.hpp"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"
#include "redis/connection/exchange.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::redis {
namespace {

constexpr milliseconds ask_every{1000};

}  // namespace

master_watch::master_watch(sentinel_group group, newest_epoch& newest,
                           milliseconds response_timeout, std::string known, listener moved)
    : group_(std::move(group)),
      newest_(newest),
      response_timeout_(response_timeout),
      moved_(std::move(moved)),
      last_(std::move(known)),
      behind_(group_.members.size(), false) {
  thread_ = net::quiet_thread("holdfast-watch", [this] { run(); });
}

master_watch::~master_watch() {
  cancelled_ = true;
  cancel_.signal();
  thread_.join();
}

void master_watch::run() {
  for (std::size_t i = 0; !cancelled_; ++i) {
    watch(i % group_.members.size());
    net::wait_ready(-1, 0, {net::now() + ask_every, {}, &cancel_});
  }
}

// Returns when the sentinel does not answer any more, or does not know better than we do.
void master_watch::watch(std::size_t member) {
  const auto& sentinel = group_.members[member];
  const net::connect_limits limits{net::now() + response_timeout_, response_timeout_, &cancel_};
  link over;
  session_facts facts;
  if (reach_sentinel(sentinel, group_, limits, over, facts)) return;
  exchange talk(over, limits);
  // With RESP2 a connection that listens cannot ask: then it only asks.
  if (facts.resp3) {
    talk.ask({"SUBSCRIBE", "+switch-master"});
    talk.ask({"SUBSCRIBE", "+promoted-slave"});
    if (talk.run()) return;
  }
  listen(over, member);
}

void master_watch::listen(link& over, std::size_t member) {
  reply_batch batch;
  while (!cancelled_ && ask(over)) {
    const auto asked_at = net::now();
    bool announced = false;
    while (unanswered_ > 0 || (!announced && net::now() < asked_at + ask_every)) {
      batch.clear();
      const auto outcome = over.receive(batch);
      if (outcome == link::outcome::closed || cancelled_) return;
      if (!take(batch, announced, member)) return;
      const auto until = asked_at + (unanswered_ == 0 ? ask_every : response_timeout_);
      const net::connect_limits limits{until, {}, &cancel_};
      if (outcome == link::outcome::would_block) net::wait_ready(over.fd(), POLLIN, limits);
      if (unanswered_ > 0 && net::is_over(limits)) return;
    }
  }
}

bool master_watch::ask(link& over) {
  std::string bytes;
  resp::writer out(bytes);
  for (const auto* question : master_questions) {
    out.command(3);
    for (const std::string_view word : {"SENTINEL", question}) out.arg(word);
    out.arg(group_.service);
  }
  std::size_t sent = 0;
  unanswered_ = std::size(master_questions);
  return over.send(bytes, sent) == link::outcome::data && sent == bytes.size();
}

// False: it names no master, or one of before the last failover.
bool master_watch::take(reply_batch& batch, bool& announced, std::size_t member) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].is(resp::type::push)) {
      announced = true;
      continue;
    }
    if (unanswered_ == 0) return false;  // an answer that we have not asked for
    if (--unanswered_ > 0) {
      epoch_ = read_epoch(batch[i]);
      continue;
    }
    const auto said = read_master(batch[i], epoch_);
    const auto* const master = std::get_if<named_master>(&said);
    if (master == nullptr) return false;
    if (!believes(member)) return false;
    // A search meanwhile may have led to another master.
    const bool is_newer = newest_.learn(epoch_, net::now());
    auto address = net::to_string(net::endpoint{master->where});
    if (address == last_ && !is_newer) continue;
    last_ = std::move(address);
    moved_(last_);
  }
  return true;
}

bool master_watch::believes(std::size_t member) {
  if (newest_.is_after(epoch_)) {
    behind_[member] = newest_.is_settled(net::now());
    const auto behind = std::ranges::count(behind_, true);
    const bool most_are = 2 * behind > std::ssize(behind_);
    if (!newest_.begin_again_at(*epoch_, most_are, net::now())) return false;
  }
  behind_.assign(behind_.size(), false);
  return true;
}

}  // namespace holdfast::redis
