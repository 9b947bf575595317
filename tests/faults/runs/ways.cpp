#include "faults/runs/ways.hpp"

#include <array>
#include <optional>
#include <random>

#include "support/options_for.hpp"

namespace holdfast::faults {

std::vector<access> by_mutex(const clients& redis, const contested& what) {
  return {{redis.told.mutex(what.name, what.options)}};
}

std::vector<access> by_polling(const clients& redis, const contested& what) {
  const access polled{redis.polls.mutex(what.name, what.options)};
  return {polled, polled, {redis.told.mutex(what.name, what.options)}};
}

std::vector<access> by_readers(const clients& redis, const contested& what) {
  const auto both =
      redis.told.read_write_lock(what.name, support::options_for<read_write_options>(what.options));
  const access reader{.target = both.shared(), .joins = true};
  return {reader, reader, reader, {both.exclusive()}};
}

using support::mode;

// Upgradeable readers become either. A plain reader can become nothing else.
std::vector<access> by_roles(const clients& redis, const contested& what) {
  const auto both =
      redis.told.read_write_lock(what.name, support::options_for<read_write_options>(what.options));
  const auto change = [both](const lease& held, std::mt19937_64& any) -> std::optional<change_of> {
    const auto has = mode_of(held);
    if (has == mode::u && any() % 2 == 0) return change_of{both.upgrade(held), mode::ex};
    if (has != mode::u && has != mode::ex) return std::nullopt;
    return change_of{both.downgrade(held), mode::pr};
  };
  access reader{.target = both.shared(), .joins = true};
  return {reader,
          reader,
          {.target = both.upgradeable(), .change = change},
          {.target = both.exclusive(), .change = change}};
}

std::vector<access> by_modes(const clients& redis, const contested& what) {
  constexpr std::array modes{
      lock_mode::null,           lock_mode::concurrent_read, lock_mode::concurrent_write,
      lock_mode::protected_read, lock_mode::protected_write, lock_mode::exclusive};
  const auto target =
      redis.told.mode_lock(what.name, support::options_for<mode_lock_options>(what.options));
  const auto change = [=](const lease& held, std::mt19937_64& any) -> std::optional<change_of> {
    const auto has = mode_of(held);
    const auto to = modes.at(any() % modes.size());
    const auto wanted = support::mode_of(static_cast<char>(to));
    if (!has || has == wanted) return std::nullopt;
    return change_of{target.change(held, to), *wanted};
  };
  std::vector<access> all;
  for (const auto one : modes) all.push_back({.target = target.in(one), .change = change});
  return all;
}

std::vector<access> by_permits(const clients& redis, const contested& what) {
  constexpr std::uint32_t all = 3;
  const auto permits =
      redis.told.semaphore(what.name, {.permits = all, .lease = what.options.lease});
  return {{permits, 1, all}, {permits.permits(2), 2, all}, {permits.permits(3), 3, all}};
}

}  // namespace holdfast::faults
