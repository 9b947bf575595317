#include "redis/dialects/redisson/semaphore_recipe.hpp"

#include "base/never_destroyed.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/redisson/redisson_recipe.hpp"

namespace holdfast::dialects {
namespace {

std::uint8_t digit(char c) { return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); }

// The first permit of a request: the random bits of the client, with the number of the request in
// those before the last four bytes, where its other permits count on.
std::string first_permit(const request_id& owner) {
  constexpr std::size_t size = 16;
  constexpr std::size_t last_of_number = 11;
  const request_text text = owner.text();
  const std::string_view digits = text;
  std::string permit;
  for (std::size_t i = 0; i < size; ++i) {
    permit += static_cast<char>(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
  }
  auto at = last_of_number;
  for (auto left = owner.counter(); left != 0; left >>= 8) {
    permit[at--] ^= static_cast<char>(left & 0xff);
  }
  return permit;
}

}  // namespace

semaphore_recipe::semaphore_recipe(permit_leases whose, messages how) noexcept
    : foreign_recipe(
          {.name = "redisson", .lease = milliseconds{30'000}, .retry = milliseconds{50}}),
      whose_(whose),
      how_(how) {}

std::string semaphore_recipe::key_of(std::string_view name) const {
  if (whose_ == permit_leases::ours) return redisson_prefixed(key_space{}.named("permits:"), name);
  return redisson_prefixed("", name) + ":timeout";
}

std::string semaphore_recipe::channel_of(std::string_view name) const {
  return redisson_prefixed("redisson_sc:", name);
}

std::shared_ptr<const foreign_recipe> semaphore_recipe::in_cluster() const {
  using enum permit_leases;
  static const never_destroyed of_theirs{
      std::make_shared<const semaphore_recipe>(theirs, messages::sharded)};
  static const never_destroyed of_ours{
      std::make_shared<const semaphore_recipe>(ours, messages::sharded)};
  return whose_ == theirs ? *of_theirs : *of_ours;
}

std::string semaphore_recipe::owner_of(const claim& c) const {
  return first_permit(c.owner) + std::to_string(c.wants->weight);
}

void semaphore_recipe::write_acquire(const claim& wanted, bool, server_time not_after,
                                     resp::writer& out) const {
  const std::string& name = wanted.key->name();
  out.call(scripts::redisson_acquire_permits, 2, 5 + words_of(how_));
  out.arg(name);
  out.arg(key_of(name));
  out.arg(owner_of(wanted));
  out.arg(kept_time(wanted).count());
  out.arg(micros(not_after));
  out.arg(std::int64_t{wanted.wants->limit});
  out.arg(channel_of(name));
  write_words(how_, out);
}

void semaphore_recipe::write_release(const claim& held, resp::writer& out) const {
  const std::string& name = held.key->name();
  out.call(scripts::redisson_release_permits, 2, 2 + words_of(how_));
  out.arg(name);
  out.arg(key_of(name));
  out.arg(owner_of(held));
  out.arg(channel_of(name));
  write_words(how_, out);
}

void semaphore_recipe::write_set_permits(std::string_view name, std::uint32_t count,
                                         server_time not_after, resp::writer& out) const {
  out.call(scripts::redisson_set_permits, 2, 3 + words_of(how_));
  out.arg(name);
  out.arg(key_of(name));
  out.arg(std::int64_t{count});
  out.arg(micros(not_after));
  out.arg(channel_of(name));
  write_words(how_, out);
}

const resp::script& semaphore_recipe::inspection() const noexcept {
  return scripts::redisson_inspect_permits;
}

const resp::script& semaphore_recipe::renewal() const noexcept {
  return scripts::redisson_renew_permits;
}

}  // namespace holdfast::dialects
