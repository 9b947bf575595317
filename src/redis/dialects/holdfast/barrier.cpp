#include "redis/dialects/holdfast/barrier.hpp"

#include <string>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/waiting.hpp"

namespace holdfast::dialects {

void barrier_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                   resp::writer& out) const {
  out.call(scripts::holdfast_barrier_arrive, 5, wanted.waits ? 6 : 4);
  write_keys(*wanted.key, out);
  write_key(*wanted.key, ":g", out);
  out.arg(wanted.owner.text());
  out.arg(static_cast<std::int64_t>(not_after.time_since_epoch().count()));
  out.arg(static_cast<std::int64_t>(wanted.floor));
  out.arg(static_cast<std::int64_t>(wanted.wants->limit));
  if (!wanted.waits) return;
  out.arg(place_suffix{queue_family(), wanted}.text());
  out.arg(static_cast<std::int64_t>(wanted.ticket));
}

void barrier_recipe::write_withdraw(const claim& wanted, resp::writer& out) const {
  out.call(scripts::holdfast_barrier_leave, 3, 1);
  for (const auto* end : {"", ":w", ":i"}) write_key(*wanted.key, end, out);
  out.arg(std::string{wanted.owner.text()}.append(place_suffix{queue_family(), wanted}.text()));
}

}  // namespace holdfast::dialects
