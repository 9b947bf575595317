// The first commands of a client on each connection.
#pragma once

#include <string>

#include "base/lock_key.hpp"
#include "base/request_id.hpp"
#include "base/time.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/dialects/holdfast/waiting.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::simulation {

// `execute` sends to the server, on this connection, and returns the answer.

template <typename Execute>
void subscribe(const client_id& who, const Execute& execute) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(2);
  out.arg("SUBSCRIBE");
  out.arg(dialects::channel_of(key_space{}, who));
  (void)execute(bytes);
}

// The same at a node of a cluster, of one lock alone.
template <typename Execute>
void subscribe_in_slot(const client_id& who, const lock_key& lock, const Execute& execute) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(2);
  out.arg("SSUBSCRIBE");
  out.arg(dialects::channel_of(who, lock));
  (void)execute(bytes);
}

template <typename Execute>
server_time ask_time(const Execute& execute) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(1);
  out.arg("TIME");
  return redis::read_time(execute(bytes)).value();
}

}  // namespace holdfast::simulation
