#include "redis/master_watch.hpp"

#include <poll.h>

#include <utility>

#include "net/clock.hpp"
#include "net/quiet_thread.hpp"
#include "redis/exchange.hpp"
#include "resp/writer.hpp"

namespace holdfast::redis {
namespace {

constexpr milliseconds ask_every{1000};

}  // namespace

master_watch::master_watch(sentinel_group group, milliseconds response_timeout, std::string known,
                           listener moved)
    : group_(std::move(group)),
      response_timeout_(response_timeout),
      moved_(std::move(moved)),
      last_(std::move(known)) {
  thread_ = net::quiet_thread("holdfast-watch", [this] { run(); });
}

master_watch::~master_watch() {
  cancelled_ = true;
  cancel_.signal();
  thread_.join();
}

void master_watch::run() {
  for (std::size_t i = 0; !cancelled_; ++i) {
    watch(group_.members[i % group_.members.size()]);
    net::wait_ready(-1, 0, {net::now() + ask_every, {}, &cancel_});
  }
}

// Returns when the sentinel does not answer any more.
void master_watch::watch(const net::endpoint& sentinel) {
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
  listen(over);
}

void master_watch::listen(link& over) {
  reply_batch batch;
  while (!cancelled_) {
    std::string bytes;
    resp::writer out(bytes);
    out.command(3);
    for (const auto* word : {"SENTINEL", "GET-MASTER-ADDR-BY-NAME"}) out.arg(word);
    out.arg(group_.service);
    std::size_t sent = 0;
    if (over.send(bytes, sent) != link::outcome::data || sent < bytes.size()) return;
    const auto asked_at = net::now();
    bool answered = false;
    bool announced = false;
    while (!answered || (!announced && net::now() < asked_at + ask_every)) {
      batch.clear();
      const auto outcome = over.receive(batch);
      if (outcome == link::outcome::closed || cancelled_) return;
      if (take(batch, announced)) answered = true;
      const auto until = asked_at + (answered ? ask_every : response_timeout_);
      if (outcome == link::outcome::would_block &&
          !net::wait_ready(over.fd(), POLLIN, {until, {}, &cancel_}) && !answered) {
        return;
      }
    }
  }
}

// True when the answer was there.
bool master_watch::take(reply_batch& batch, bool& announced) {
  bool answered = false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].is(resp::type::push)) {
      announced = true;
      continue;
    }
    answered = true;
    const auto said = read_master(batch[i]);
    const auto* const master = std::get_if<net::endpoint>(&said);
    if (master == nullptr) continue;
    auto address = net::to_string(*master);
    if (address == last_) continue;
    last_ = std::move(address);
    moved_(last_);
  }
  return answered;
}

}  // namespace holdfast::redis
