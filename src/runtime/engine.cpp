#include "runtime/engine.hpp"

#include <array>

#include "base/random_bits.hpp"
#include "net/descriptor.hpp"

namespace holdfast::runtime {

engine::engine(const client_options& options)
    : options_(options),
      space_(options.tenant),
      generation_(net::process_generation()),
      id_(random_bits<std::array<std::uint8_t, 16>>()),
      seed_(random_bits<std::uint64_t>()) {}

bool engine::is_in_its_process() const noexcept { return generation_ == net::process_generation(); }

request_id engine::next_request(bool revocable) noexcept {
  return {id_, requests_.fetch_add(1, std::memory_order_relaxed) + 1, revocable};
}

std::uint64_t engine::next_seed() noexcept { return seed_.fetch_add(1, std::memory_order_relaxed); }

void engine::ended() noexcept {
  if (under_way_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const std::lock_guard lock(quiet_guard_);
  quiet_.notify_all();
}

void engine::wait_until_quiet() noexcept {
  std::unique_lock lock(quiet_guard_);
  quiet_.wait_for(lock, options_.response_timeout,
                  [this] { return under_way_.load(std::memory_order_acquire) == 0; });
}

}  // namespace holdfast::runtime
