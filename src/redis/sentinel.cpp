#include "redis/sentinel.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "redis/exchange.hpp"
#include "redis/link.hpp"
#include "redis/password_file.hpp"
#include "resp/server_error.hpp"

namespace holdfast::redis {
namespace {

// The gravest of what the sentinels answered, with what each of them said. That none knows the
// service is certain when all have said it: one that is only slow may know.
class complaints {
 public:
  explicit complaints(const std::string& service) : service_(service) {}

  void add(const net::endpoint& sentinel, const sentinel_answer& said) {
    const auto* const broken = std::get_if<breakdown>(&said);
    const std::string why = broken != nullptr ? broken->detail : "it does not know this service";
    text_ += "; " + net::to_string(sentinel) + ": " + why;
    reached_ = reached_ || broken == nullptr || broken->reached;
    if (broken == nullptr) return;
    all_are_ignorant_ = false;
    // A refused password must be heard of although another sentinel is down.
    if (code_ == errc::unavailable) code_ = broken->code;
  }

  breakdown sum() const {
    return {all_are_ignorant_ ? errc::invalid_url : code_,
            "no sentinel says where the master of \"" + printable(service_) + "\" is" + text_,
            reached_};
  }

 private:
  const std::string& service_;
  errc code_ = errc::unavailable;
  std::string text_;
  bool reached_ = false;
  bool all_are_ignorant_ = true;
};

}  // namespace

sentinel_answer read_master(const resp::value& reply) {
  if (reply.is(resp::type::error)) {
    auto error = resp::classify(reply.text);
    return breakdown{error.code, std::move(error.detail)};
  }
  if (reply.is(resp::type::null)) return unknown_service{};
  net::tcp_endpoint where;
  if (reply.items.size() == 2) {
    where.host = reply.items[0].text;
    where.port = parse_number<std::uint16_t>(reply.items[1].text).value_or(0);
  }
  if (where.host.empty() || where.port == 0) {
    return breakdown{errc::not_redis, "its answer is not the address of a master"};
  }
  return where;
}

std::optional<breakdown> reach_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                        const net::connect_limits& limits, link& over,
                                        session_facts& facts) {
  auto login = group.login;
  if (auto unreadable = read_password(login)) return unreadable;
  if (auto problem = net::connect(sentinel, limits, over.socket()); !problem.empty()) {
    return breakdown{errc::unavailable, std::move(problem), false};
  }
  if (auto broken = secure(over, group.tls, sentinel, limits)) return broken;
  exchange talk(over, limits);
  return log_in(talk, login, facts);
}

sentinel_answer ask_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                             const net::connect_limits& limits) {
  link over;
  session_facts facts;
  if (auto broken = reach_sentinel(sentinel, group, limits, over, facts)) return *broken;
  exchange talk(over, limits);
  talk.ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", group.service});
  if (auto broken = talk.run()) return *broken;
  return read_master(talk.reply(0));
}

sentinel_circle::sentinel_circle(sentinel_group group) : group_(std::move(group)) {}

void sentinel_circle::begin_search() noexcept { silent_ = 0; }

std::optional<breakdown> sentinel_circle::find_master(const net::connect_limits& limits,
                                                      net::endpoint& master) {
  complaints why(group_.service);
  auto& members = group_.members;
  for (auto member = members.begin(); member != members.end(); ++member) {
    const auto now = net::now();
    const auto part = (limits.deadline - now) / (members.end() - member + 1);
    auto said = ask_sentinel(*member, group_, {now + part, limits.user_timeout, limits.cancel});
    if (auto* const where = std::get_if<net::endpoint>(&said)) {
      master = std::move(*where);
      silent_ = std::min(silent_ + (member - members.begin()), std::ssize(members) - 1);
      std::rotate(members.begin(), member, members.end());
      return std::nullopt;
    }
    why.add(*member, said);
  }
  silent_ = 0;  // all alike
  return why.sum();
}

void sentinel_circle::doubt_the_first() noexcept {
  auto& members = group_.members;
  std::rotate(members.begin(), members.begin() + 1, members.end() - silent_);
}

}  // namespace holdfast::redis
