#include "redis/dialects/holdfast/native_recipe.hpp"

#include "base/printable.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

// {"queued", place, ms, ticket, server time, 1: it has come just now}
std::optional<queued> read_queued(const resp::value& v) noexcept {
  if (leading_word(v) != "queued" || v.items.size() < 5) return std::nullopt;
  const auto remaining = read_ttl(v.items[2]);
  const auto ticket = read_major(v.items[3]);
  const auto now = read_time(v.items[4]);
  const bool has_place = v.items[1].is(resp::type::integer) && v.items[1].number >= 0;
  if (!has_place || !remaining || !ticket || !now) return std::nullopt;
  return queued{static_cast<std::uint64_t>(v.items[1].number), *remaining, *ticket, *now,
                v.items.size() > 5 && v.items[5].number == 1};
}

// A value of somebody else's type at our key: the lock is certainly not ours any more.
template <typename Verdict>
Verdict not_mine_or_refused(std::string_view error) {
  refused why = refused_by_server(error);
  if (why.code == errc::foreign_key) return not_mine{};
  return why;
}

// Answers that only locks that several may hold give.
std::optional<refused> read_not_granted_to_several(const resp::value& v) {
  const std::string_view word = leading_word(v);
  if (word == "gone") {
    return refused{errc::lost, false, "the lease that was to be changed had ended before"};
  }
  if (word == "deadlock") {
    return refused{
        errc::would_deadlock, false,
        "another holder waits for this one to leave, so that it can change its own mode: "
        "one of the two must release first"};
  }
  if (word == "never" && v.items.size() == 2 && v.items[1].is_text()) {
    return refused{errc::invalid_argument, false,
                   "there are " + printable(v.items[1].text) + " permits, and more were asked for"};
  }
  return read_other_family(v);
}

// The floor is further ahead of the server's time than is believed.
refused floor_too_far(const claim& wanted, const resp::value& server_said) {
  const auto now = read_time(server_said);
  const auto known = std::chrono::microseconds{wanted.floor};
  const auto ahead = now ? known - now->time_since_epoch() : std::chrono::microseconds{0};
  const auto seconds = std::to_string(std::chrono::ceil<std::chrono::seconds>(ahead).count());
  return refused{errc::clock_skew, false,
                 "the largest token known here is " + seconds +
                     " s ahead of the server's clock, and its fence counter " +
                     wanted.key->fence_key() +
                     " has not reached it: the clock was set back, or is behind that of a server "
                     "before it; set the server's clock (NTP), or wait so long"};
}

acquire_verdict read_number(const claim& wanted, const resp::value& v) {
  if (v.number <= 0) {
    const std::int64_t left = v.number < -longest_ttl.count() ? longest_ttl.count() : -v.number;
    return busy{milliseconds(left)};
  }
  const auto major = read_major(v);
  if (!major) return not_understood("acquire", v);
  return granted{*major, wanted.lease};
}

acquire_verdict read_array(const claim& wanted, const resp::value& v) {
  const std::string_view word = leading_word(v);
  if (word == "mine" && v.items.size() == 3) {
    const auto major = read_major(v.items[1]);
    const auto ttl = read_ttl(v.items[2]);
    if (major && ttl) return granted{*major, *ttl - wanted.delay};
  }
  if (auto waits = read_queued(v)) return *waits;
  if (word == "more") return unfinished{};
  if (word == "full" && v.items.size() == 2 && v.items[1].is_text()) {
    return refused{errc::queue_full, false,
                   "the queue has reached the lock's limit: " + printable(v.items[1].text) +
                       " requests wait already"};
  }
  if (auto too_late = read_late(v)) return *too_late;
  if (auto why = read_not_ours(v, wanted.key->value_key())) return *std::move(why);
  if (word == "persistent") {
    return refused{errc::foreign_key, false,
                   "the key " + printable(wanted.key->value_key()) +
                       " is a Holdfast lock without an expiry: somebody made it persistent, so it "
                       "would never end; remove it, or give it an expiry with PEXPIRE"};
  }
  if (auto why = read_not_granted_to_several(v)) return *std::move(why);
  if (word == "skew" && v.items.size() == 2) return floor_too_far(wanted, v.items[1]);
  if (word == "counter" && v.items.size() == 2 && v.items[1].is_text()) {
    return refused{errc::clock_skew, false,
                   "the fence counter " + wanted.key->fence_key() + " holds " +
                       printable(v.items[1].text) +
                       ", which no Holdfast has written; find its writer, then remove the key: the "
                       "server's clock replaces it"};
  }
  return not_understood("acquire", v);
}

}  // namespace

acquire_verdict native_recipe::read_acquire(const claim& wanted, const resp::value& v) const {
  if (v.is(resp::type::integer)) return read_number(wanted, v);
  if (v.is(resp::type::array)) return read_array(wanted, v);
  return refused_or_not_understood("acquire", v);
}

renew_verdict native_recipe::read_renew(const resp::value& v, std::size_t index) const {
  if (auto too_late = read_late(v)) return *too_late;
  if (!v.is(resp::type::array) || index >= v.items.size()) {
    return refused_or_not_understood("renew", v);
  }
  const resp::value& one = v.items[index];
  if (one.is_text()) return not_mine_or_refused<renew_verdict>(one.text);
  const auto ttl = read_ttl(one);
  if (!ttl) return refused_or_not_understood("renew", one);
  if (ttl->count() == 0) return not_mine{};
  return renewed{*ttl};
}

release_verdict native_recipe::read_release(const resp::value& v) const {
  if (v.is(resp::type::integer) && v.number == 1) return released{};
  if (v.is(resp::type::integer) && v.number == 0) return not_mine{};
  if (v.is(resp::type::integer) && v.number == 2) return unfinished{};
  if (v.is(resp::type::error)) return not_mine_or_refused<release_verdict>(v.text);
  // Something else has come in the lock's place.
  if (leading_word(v) == "foreign" || leading_word(v) == "layout") return not_mine{};
  return not_understood("release", v);
}

}  // namespace holdfast::dialects
