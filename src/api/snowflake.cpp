#include <holdfast/client.hpp>
#include <holdfast/id_generator.hpp>
#include <mutex>
#include <utility>

#include "api/once.hpp"
#include "api/wait_till.hpp"
#include "base/lock_key.hpp"
#include "net/clock.hpp"
#include "redis/server_reply.hpp"

namespace holdfast {
namespace {

constexpr int machine_bits = 10;
constexpr int number_bits = 12;
constexpr std::int64_t largest_number = (1 << number_bits) - 1;
constexpr std::int64_t epoch = 1'577'836'800'000;  // 2020-01-01, in ms since 1970

std::int64_t to_ms(server_time t) noexcept {
  return std::chrono::floor<milliseconds>(t.time_since_epoch()).count();
}

// The estimate falls behind while nothing is asked.
void learn_time(runtime::client_core& core) {
  const auto asked_at = net::now();
  const auto reply = api::ask_again(core, [](resp::writer& out) {
    out.command(1);
    out.arg("TIME");
  });
  const auto said = redis::read_time(reply);
  if (!said) throw failure{errc::server_error, "TIME was answered: " + resp::to_string(reply)};
  core.engine().learn_time(asked_at, net::now(), *said);
}

}  // namespace

class snowflake_generator::state {
 public:
  state(std::shared_ptr<runtime::client_core> core, std::string_view name, std::uint32_t machine,
        lease held)
      : core_(std::move(core)),
        name_(name),
        machine_(machine),
        held_(std::move(held)),
        // Whoever had the number before was granted it earlier, and gave out no later time.
        time_(
            static_cast<std::int64_t>(held_.token().value() / dialects::minors_per_major / 1000)) {}

  const std::string& name() const noexcept { return name_; }
  std::uint32_t machine() const noexcept { return machine_; }

  std::int64_t next() {
    const std::lock_guard lock(guard_);
    if (const auto now = server_ms(); now > time_) {
      time_ = now;
      number_ = 0;
    } else if (number_ < largest_number) {
      ++number_;
    } else {
      wait_for_next_time();
    }
    // After the look at the clock: the time in the id is one at which the number was ours.
    if (!held_.held()) {
      throw failure{errc::lost, "the lease of machine number " + std::to_string(machine_) +
                                    " has ended; make another generator"};
    }
    return (time_ - epoch) << (machine_bits + number_bits) |
           static_cast<std::int64_t>(machine_) << number_bits | number_;
  }

 private:
  std::int64_t server_ms() const { return to_ms(core_->engine().estimate(net::now())); }

  void wait_for_next_time() {
    for (auto now = server_ms(); now <= time_; now = server_ms()) {
      if (time_ - now > 1000) {
        throw failure{errc::clock_skew,
                      "the server's clock is " + std::to_string(time_ - now) +
                          " ms behind the last id; set the clocks (NTP), or wait"};
      }
      api::wait_till(net::now() + milliseconds(time_ + 1 - now) / 2 + microseconds{50});
    }
    time_ = server_ms();
    number_ = 0;
  }

  const std::shared_ptr<runtime::client_core> core_;
  const std::string name_;
  const std::uint32_t machine_;
  const lease held_;
  std::mutex guard_;
  std::int64_t time_;                     // of the last id, in ms since 1970
  std::int64_t number_ = largest_number;  // in that time: none is left at first
};

snowflake_generator client::snowflake(std::string_view name,
                                      const snowflake_options& options) const {
  if (options.machines < 1 || options.machines > 1U << machine_bits) {
    throw failure{errc::invalid_argument, "machines must be 1 to 1024"};
  }
  (void)lock_key{name};  // throws when it is no name
  const auto first = core_->engine().next_seed() % options.machines;
  for (std::uint32_t tried = 0; tried < options.machines; ++tried) {
    const auto machine = static_cast<std::uint32_t>((first + tried) % options.machines);
    auto held = mutex(std::string{name} + ":machine:" + std::to_string(machine)).try_acquire();
    if (held) {
      learn_time(*core_);
      return snowflake_generator{
          std::make_shared<snowflake_generator::state>(core_, name, machine, *std::move(held))};
    }
    if (held.error().reason() != errc::busy) throw failure{held.error()};
  }
  throw failure{errc::busy, "all " + std::to_string(options.machines) + " machine numbers of " +
                                std::string{name} + " are taken"};
}

const std::string& snowflake_generator::name() const noexcept { return state_->name(); }

std::uint32_t snowflake_generator::machine() const noexcept { return state_->machine(); }

std::int64_t snowflake_generator::next() const { return state_->next(); }

}  // namespace holdfast
