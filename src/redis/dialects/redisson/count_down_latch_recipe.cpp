#include "redis/dialects/redisson/count_down_latch_recipe.hpp"

#include <algorithm>
#include <limits>

#include "base/never_destroyed.hpp"
#include "base/number.hpp"
#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

refused not_a_latch(std::string_view name) {
  return {errc::foreign_key, false,
          "the key " + printable(name) +
              " holds something that is not a RCountDownLatch of Redisson; choose another name or "
              "remove that key"};
}

}  // namespace

count_down_latch_recipe::count_down_latch_recipe(messages how) noexcept
    : foreign_latch({.name = "redisson", .retry = milliseconds{50}}), how_(how) {}

std::string count_down_latch_recipe::channel_of(std::string_view name) const {
  return "redisson_countdownlatch__channel__{" + std::string(name) + "}";
}

std::shared_ptr<const foreign_recipe> count_down_latch_recipe::in_cluster() const {
  static const never_destroyed sharded{
      std::make_shared<const count_down_latch_recipe>(messages::sharded)};
  return *sharded;
}

once_call count_down_latch_recipe::set(const lock_key& key, std::uint32_t count) const {
  return change(key, "set", count);
}

once_call count_down_latch_recipe::count_down(const lock_key& key, std::uint32_t by) const {
  return change(key, "down", by);
}

once_call count_down_latch_recipe::change(const lock_key& key, const char* how,
                                          std::uint32_t number) const {
  once_call asked{scripts::redisson_change_latch,
                  key.slot(),
                  {key_of(key.name())},
                  {how, std::to_string(number), channel_of(key.name())}};
  if (how_ == messages::sharded) asked.args.emplace_back(sharded_command);
  return asked;
}

std::variant<latch_change, refused> count_down_latch_recipe::read_change(
    const lock_key& key, const once_answer& answer) const {
  if (answer.word == "foreign") return not_a_latch(key.name());
  return read_latch_change(key, answer);
}

void count_down_latch_recipe::write_query(std::string_view name, resp::writer& out) const {
  out.command(2);
  out.arg("GET");
  out.arg(key_of(name));
}

std::variant<std::uint32_t, refused> count_down_latch_recipe::read_count(
    std::string_view name, const resp::value& v) const {
  if (v.is(resp::type::null)) return 0U;
  if (!v.is_text()) return refused_or_not_understood("GET", v);
  const auto left = parse_number<std::int64_t>(v.text);
  if (!left) return not_a_latch(name);
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*left, 0, most));
}

void count_down_latch_recipe::write_acquire(const claim& wanted, bool, server_time,
                                            resp::writer& out) const {
  write_query(wanted.key->name(), out);
}

acquire_verdict count_down_latch_recipe::read_acquire(const claim& wanted,
                                                      const resp::value& v) const {
  const auto left = read_count(wanted.key->name(), v);
  if (const auto* const why = std::get_if<refused>(&left)) return *why;
  if (std::get<std::uint32_t>(left) > 0) return busy{};
  // That it has been open stays true however late it is heard.
  return granted{0, longest_ttl, true};
}

// Something that changes nothing, and is answered as a release is.
void count_down_latch_recipe::write_release(const claim& left, resp::writer& out) const {
  out.command(2);
  out.arg("EXISTS");
  out.arg(key_of(left.key->name()));
}

const resp::script& count_down_latch_recipe::inspection() const noexcept {
  return scripts::redisson_inspect;
}

const resp::script& count_down_latch_recipe::renewal() const noexcept {
  return scripts::redisson_renew;
}

}  // namespace holdfast::dialects
