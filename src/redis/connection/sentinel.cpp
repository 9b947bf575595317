#include "redis/connection/sentinel.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/number.hpp"
#include "base/printable.hpp"
#include "net/clock.hpp"
#include "redis/connection/exchange.hpp"
#include "redis/connection/link.hpp"
#include "redis/connection/password_file.hpp"
#include "redis/resp/server_error.hpp"

namespace holdfast::redis {
namespace {

// The gravest of what the sentinels answered, with what each of them said. That none knows the
// service is certain when all have said it: one that is only slow may know.
class complaints {
 public:
  explicit complaints(const std::string& service) : service_(service) {}

  void add(const net::endpoint& sentinel, const sentinel_answer& said) {
    text_ += "; " + net::to_string(sentinel) + ": " + why(said);
    const auto* const broken = std::get_if<breakdown>(&said);
    reached_ = reached_ || broken == nullptr || broken->reached;
    one_is_behind_ = one_is_behind_ || std::holds_alternative<named_master>(said);
    all_are_ignorant_ = all_are_ignorant_ && std::holds_alternative<unknown_service>(said);
    // A refused password must be heard of although another sentinel is down.
    if (broken != nullptr && code_ == errc::unavailable) code_ = broken->code;
    if (broken != nullptr && !may_speak_tls_) may_speak_tls_ = broken->may_speak_tls;
  }

  // One that is behind will hear of the last failover: waiting may help.
  breakdown sum() const {
    const auto code = one_is_behind_ ? errc::unavailable : code_;
    return {all_are_ignorant_ ? errc::invalid_url : code,
            "no sentinel says where the master of \"" + printable(service_) + "\" is" + text_,
            reached_, may_speak_tls_};
  }

 private:
  static std::string why(const sentinel_answer& said) {
    if (const auto* const broken = std::get_if<breakdown>(&said)) return broken->detail;
    const auto* const stale = std::get_if<named_master>(&said);
    if (stale == nullptr) return "it does not know this service";
    return "it names " + net::to_string(net::endpoint{stale->where}) +
           ", but has not heard of the last failover";
  }

  const std::string& service_;
  errc code_ = errc::unavailable;
  std::string text_;
  bool reached_ = false;
  std::optional<net::endpoint> may_speak_tls_;
  bool all_are_ignorant_ = true;
  bool one_is_behind_ = false;
};

}  // namespace

std::string field_of(const resp::value& pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.items.size(); i += 2) {
    if (pairs.items[i].text == name) return pairs.items[i + 1].text;
  }
  return {};
}

std::optional<std::uint64_t> read_epoch(const resp::value& reply) {
  return parse_number<std::uint64_t>(field_of(reply, "config-epoch"));
}

sentinel_answer read_master(const resp::value& reply, std::optional<std::uint64_t> epoch) {
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
  return named_master{std::move(where), epoch};
}

std::optional<breakdown> reach_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                        const net::connect_limits& limits, link& over,
                                        session_facts& facts) {
  auto login = group.login;
  if (auto unreadable = read_password(login)) return unreadable;
  if (auto problem = net::connect(sentinel, limits, over.socket()); !problem.empty()) {
    return breakdown{errc::unavailable, std::move(problem), false};
  }
  over.leads_to(group.peer);
  if (auto broken = secure(over, group.tls, sentinel, limits)) return broken;
  exchange talk(over, limits);
  return log_in(talk, sentinel, login, facts);
}

sentinel_report question_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                                  const net::connect_limits& limits) {
  link over;
  session_facts facts;
  if (auto broken = reach_sentinel(sentinel, group, limits, over, facts)) return {*broken};
  exchange talk(over, limits);
  for (const auto* question : master_questions) talk.ask({"SENTINEL", question, group.service});
  if (auto broken = talk.run()) return {*broken};
  return {read_master(talk.reply(1), read_epoch(talk.reply(0))), std::move(talk.reply(0)),
          over.tls() == nullptr ? std::string{} : over.tls()->description()};
}

sentinel_answer ask_sentinel(const net::endpoint& sentinel, const sentinel_group& group,
                             const net::connect_limits& limits) {
  return question_sentinel(sentinel, group, limits).said;
}

sentinel_circle::sentinel_circle(sentinel_group group, newest_epoch& newest)
    : newest_(newest), group_(std::move(group)) {}

void sentinel_circle::begin_search() noexcept { silent_ = 0; }

std::optional<breakdown> sentinel_circle::find_master(const net::connect_limits& limits,
                                                      net::endpoint& master) {
  complaints why(group_.service);
  auto& members = group_.members;
  std::ptrdiff_t behind = 0;
  auto newest_behind = members.end();
  named_master best;
  const auto most_are_behind = [&] { return 2 * behind > std::ssize(members); };
  const auto begins_again = [&] {
    if (behind == 0 || !newest_.begin_again_at(*best.epoch, most_are_behind(), net::now())) {
      return false;
    }
    master = best.where;
    believe(newest_behind);
    return true;
  };
  for (auto one = members.begin(); one != members.end(); ++one) {
    const auto now = net::now();
    const auto part = (limits.deadline - now) / (members.end() - one + 1);
    const auto said = ask_sentinel(*one, group_, {now + part, limits.user_timeout, limits.cancel});
    const auto* const named = std::get_if<named_master>(&said);
    if (named != nullptr && !newest_.is_after(named->epoch)) {
      // It may be the only one that was not set up anew, and name a master that has gone.
      if (most_are_behind() && begins_again()) return std::nullopt;
      newest_.learn(named->epoch, net::now());
      master = named->where;
      believe(one);
      return std::nullopt;
    }
    why.add(*one, said);
    if (named == nullptr) continue;
    ++behind;
    if (newest_behind != members.end() && named->epoch <= best.epoch) continue;
    newest_behind = one;
    best = *named;
  }
  if (begins_again()) return std::nullopt;
  silent_ = 0;  // all alike
  return why.sum();
}

// Those before it named no master that could be believed.
void sentinel_circle::believe(member who) noexcept {
  auto& members = group_.members;
  silent_ = std::min(silent_ + (who - members.begin()), std::ssize(members) - 1);
  std::rotate(members.begin(), who, members.end());
}

void sentinel_circle::doubt_the_first() noexcept {
  auto& members = group_.members;
  std::rotate(members.begin(), members.begin() + 1, members.end() - silent_);
}

}  // namespace holdfast::redis
