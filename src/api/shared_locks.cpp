// The locks that several can hold.
#include <holdfast/client.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/native_locks.hpp"
#include "api/options_in_full.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/shared_lock.hpp"
#include "redis/dialects/holdfast/value_block.hpp"
#include "runtime/lock_access.hpp"
#include "runtime/lock_driver.hpp"

namespace holdfast {
namespace {

constexpr std::uint32_t most_permits = 1'000'000;
constexpr std::uint32_t most_of_another_library = 1'000;  // each has a name there
constexpr std::string_view every_mode = "ncdrpxu";

void check_permits(std::uint32_t count, std::uint32_t least, const char* what) {
  if (count >= least && count <= most_permits) return;
  throw failure{errc::invalid_argument,
                std::string{what} + " must be " + std::to_string(least) + " to 1,000,000"};
}

}  // namespace

struct read_write_lock::ways {
  lock shared;
  lock exclusive;
  std::optional<lock> upgradeable{};  // not in every layout
};

read_write_lock client::read_write_lock(std::string_view name, const read_write_options& options,
                                        const dialect& how) const {
  const auto shared = api::make_reader(core_, name, api::in_full(options), how);
  holdfast::read_write_lock::ways all{.shared = shared,
                                      .exclusive = api::make_alike(shared, {.mode = 'x'})};
  if (!api::foreign_of(shared)) all.upgradeable = api::make_alike(shared, {.mode = 'u'});
  return holdfast::read_write_lock{
      std::make_shared<const holdfast::read_write_lock::ways>(std::move(all))};
}

lock read_write_lock::shared() const noexcept { return ways_->shared; }

lock read_write_lock::exclusive() const noexcept { return ways_->exclusive; }

lock read_write_lock::upgradeable() const {
  if (ways_->upgradeable) return *ways_->upgradeable;
  throw failure{
      errc::unsupported,
      "another library's read-write lock has readers and a writer only, who cannot become "
      "each other: release, and acquire anew"};
}

lock read_write_lock::upgrade(const lease& held) const {
  (void)upgradeable();
  return api::make_change(ways_->exclusive, held, "u", 'x');
}

lock read_write_lock::downgrade(const lease& held) const {
  (void)upgradeable();
  return api::make_change(ways_->shared, held, "ux", 'r');
}

semaphore client::semaphore(std::string_view name, const semaphore_options& options,
                            const dialect& how) const {
  check_permits(options.permits, 1, "permits");
  return holdfast::semaphore{api::make_semaphore(core_, name, api::in_full(options), how,
                                                 {.mode = 's', .limit = options.permits})};
}

lock semaphore::permits(std::uint32_t count) const {
  check_permits(count, 1, "the number of permits asked for");
  if (api::foreign_of(inner()) && count > most_of_another_library) {
    throw failure{errc::invalid_argument,
                  "at most 1,000 permits of another library can be held as one"};
  }
  return api::make_alike(inner(),
                         {.mode = 's', .weight = count, .limit = api::demand_of(inner()).limit});
}

void semaphore::set_permits(std::uint32_t count) const {
  check_permits(count, 0, "permits");
  auto& core = *detail::lock_access::core(inner());
  core.check_process();
  const lock_key& key = api::key_of(inner());
  const auto* const foreign = api::foreign_of(inner());
  if (foreign != nullptr && !foreign->sets_permits()) {
    throw failure{
        errc::unsupported,
        foreign->counts_free_permits()
            ? "an RSemaphore does not record its holders: add or drain permits in Redisson"
            : "the server does not keep the number of permits here: each user names it"};
  }
  const auto write = [&](resp::writer& out, server_time not_after) {
    if (foreign == nullptr) return dialects::write_set_permits(key, count, not_after, out);
    foreign->write_set_permits(name(), count, not_after, out);
  };
  const auto within = calls::usual_bound(core);
  bool done = false;
  while (!done) {
    const auto answer = calls::ask_in_time(core, key.slot(), write, within);
    done = calls::accept(dialects::read_permits_set(key, answer));
  }
}

mode_lock client::mode_lock(std::string_view name, const mode_lock_options& options) const {
  return holdfast::mode_lock{
      api::make_shared_lock(core_, name, api::in_full(options), {.mode = 'n'})};
}

lock mode_lock::in(lock_mode mode) const {
  return api::make_alike(null_, {.mode = static_cast<char>(mode)});
}

lock mode_lock::change(const lease& held, lock_mode to) const {
  return api::make_change(null_, held, every_mode, static_cast<char>(to));
}

std::string mode_lock::value(const lease& held) const {
  const auto driver = api::driver_of(null_, held, every_mode, "");
  if (!held.held()) throw failure{errc::lost, "the lease had ended before the value was read"};
  const lock_key& key = *driver->claim().key;
  const auto reply =
      calls::ask_again(*detail::lock_access::core(null_), key.slot(),
                       [&](resp::writer& out) { dialects::write_value_block_query(key, out); });
  return calls::accept(dialects::read_value_block(key, reply));
}

void mode_lock::set_value(const lease& held, std::string_view bytes) const {
  const auto driver = api::driver_of(null_, held, "px", " in a mode that may write: PW or EX");
  if (bytes.size() > dialects::longest_value_block) {
    throw failure{errc::invalid_argument, "a value block has at most 64 bytes"};
  }
  // The server keeps a lease a little longer than its holder counts on.
  const auto mode = held.mode();
  if (mode == lease_mode::none) {
    throw failure{errc::lost, "the lease had ended before the value was written"};
  }
  if (mode != lease_mode::protected_write && mode != lease_mode::exclusive) {
    throw failure{errc::invalid_argument,
                  "the mode of the lease is being changed, and nobody knows whether it may write"};
  }
  const auto asked = dialects::value_block_write(driver->claim(), bytes);
  const auto answer = calls::ask_once(*detail::lock_access::core(null_), asked);
  if (calls::accept(dialects::read_value_block_written(answer))) return;
  throw failure{errc::lost, "the lease had ended before the value was written"};
}

}  // namespace holdfast
