#include "redis/connection/slot_map.hpp"

#include <algorithm>
#include <utility>

#include "base/lock_key.hpp"
#include "base/number.hpp"

namespace holdfast::redis {
namespace {

bool is_list(const resp::value& v, std::size_t least) {
  return v.is(resp::type::array) && v.items.size() >= least;
}

bool is_slot(const resp::value& v) {
  return v.is(resp::type::integer) && v.number >= 0 &&
         v.number < static_cast<std::int64_t>(hash_slots);
}

// A node that does not know its own address, or shall not tell it, leaves the host empty. "?"
// stands for the name of a node that has none where names are preferred. Both are the host by which
// the node was reached that says so, where that is known.
bool complete(net::tcp_endpoint& where, const net::tcp_endpoint& asked) {
  if (where.host.empty() || where.host == "?") where.host = asked.host;
  return !where.host.empty() && where.port != 0;
}

// [..., "ip", "10.0.0.1", ...]: from Redis 7 on the address that is not preferred stands here.
std::string address_in(const resp::value& further) {
  if (!is_list(further, 0)) return {};
  for (std::size_t i = 0; i + 1 < further.items.size(); i += 2) {
    const bool is_address = further.items[i].is_text() && further.items[i].text == "ip";
    if (is_address && further.items[i + 1].is_text()) return further.items[i + 1].text;
  }
  return {};
}

// [host, port, id, [...]]
std::optional<slot_range> read_master(const resp::value& node, const net::tcp_endpoint& asked) {
  if (!is_list(node, 2) || !node.items[1].is(resp::type::integer)) return std::nullopt;
  const auto port = node.items[1].number;
  if (port < 0 || port > 65535) return std::nullopt;
  slot_range range;
  range.master.host = node.items[0].is_text() ? node.items[0].text : std::string{};
  range.master.port = static_cast<std::uint16_t>(port);
  if (range.master.host == "?" && node.items.size() > 3) {
    range.master.host = address_in(node.items[3]);
  }
  if (!complete(range.master, asked)) range.master.port = 0;
  if (node.items.size() > 2 && node.items[2].is_text()) range.id = node.items[2].text;
  return range;
}

// [first, last, master, replica...]
std::optional<slot_range> read_range(const resp::value& run, const net::tcp_endpoint& asked) {
  if (!is_list(run, 3) || !is_slot(run.items[0]) || !is_slot(run.items[1])) return std::nullopt;
  auto range = read_master(run.items[2], asked);
  if (!range) return std::nullopt;
  range->first = static_cast<std::uint16_t>(run.items[0].number);
  range->last = static_cast<std::uint16_t>(run.items[1].number);
  return range;
}

}  // namespace

std::optional<std::vector<slot_range>> read_slots(const resp::value& reply,
                                                  const net::tcp_endpoint& asked) {
  if (!is_list(reply, 0)) return std::nullopt;
  std::vector<slot_range> ranges;
  // A slot has one master. Millions of runs that overlap would keep the reading thread busy for
  // long.
  std::int64_t named = 0;
  std::size_t unreadable = 0;
  for (const auto& run : reply.items) {
    auto range = read_range(run, asked);
    named += range ? std::max(0, range->last - range->first) + 1 : 1;
    if (named > static_cast<std::int64_t>(hash_slots)) return std::nullopt;
    if (!range) {
      ++unreadable;
    } else if (range->master.port != 0) {
      ranges.push_back(*std::move(range));
    }
  }
  if (unreadable > 0 && unreadable == reply.items.size()) return std::nullopt;
  return ranges;
}

std::optional<redirection> read_redirection(std::string_view error,
                                            const net::tcp_endpoint& asked) {
  redirection found;
  if (error.starts_with("ASK ")) {
    found.how = redirection::kind::ask;
  } else if (!error.starts_with("MOVED ")) {
    return std::nullopt;
  }
  error.remove_prefix(error.find(' ') + 1);
  const auto space = error.find(' ');
  const auto colon = error.rfind(':');  // an IPv6 address has more of them
  if (space == error.npos || colon == error.npos || colon < space) return std::nullopt;
  const auto slot = parse_number<std::uint16_t>(error.substr(0, space));
  const auto port = parse_number<std::uint16_t>(error.substr(colon + 1));
  if (!slot || *slot >= hash_slots || !port) return std::nullopt;
  found.slot = *slot;
  found.where = {std::string(error.substr(space + 1, colon - space - 1)), *port};
  if (!complete(found.where, asked)) return std::nullopt;
  return found;
}

}  // namespace holdfast::redis
