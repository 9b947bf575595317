#include "simulation/intrusion.hpp"

#include <variant>

#include "redis/dialects/catalog.hpp"
#include "redis/dialects/holdfast/latch.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::simulation {
namespace {

using namespace std::chrono_literals;

const dialects::recipe& recipe_of(bool latch, bool barrier, bool alone) {
  if (latch) return dialects::native_latch();
  if (barrier) return dialects::native_barrier();
  return alone ? dialects::native_mutex(fencing::on) : dialects::native_shared_lock();
}

client_id somebody_else(std::uint64_t number) {
  return client_id{{0xee, static_cast<std::uint8_t>(number)}};
}

// It is left behind for minutes.
std::string deletion_of_a_barrier(const lock_key& key) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(4);
  out.arg("EVAL");
  out.arg(
      "local held = redis.pcall('GET', KEYS[1]) "
      "if type(held) == 'string' and string.sub(held, 1, 3) == '1b:' then "
      "redis.call('DEL', KEYS[1]) end");
  out.arg("1");
  out.arg(std::string_view{key.value_key()});
  return bytes;
}

}  // namespace

intrusion::stranger intrusion::draw(dice& from, const kind& of) {
  for (;;) {
    const auto drawn = static_cast<stranger>(from.up_to(5));
    const bool is_ours =
        (drawn == stranger::mutex && &of == &mutex_kind()) ||
        (drawn == stranger::permits && &of == &semaphore_kind()) ||
        (drawn == stranger::modes && (&of == &read_write_kind() || &of == &mode_lock_kind()));
    if (!is_ours) return drawn;
  }
}

intrusion::intrusion(dice& from, const kind& of, const lock_key& key, std::uint64_t number)
    : key_(key),
      as_(draw(from, of)),
      client_(somebody_else(number)),
      claim_{.key = &key, .owner = request_id{client_, 1}, .lease = 300ms} {
  claim_.waits = from.chance(50);
  if (as_ == stranger::modes) wants_ = {.mode = from.chance(50) ? 'r' : 'x'};
  if (as_ == stranger::permits) wants_ = {.mode = 's', .weight = 1, .limit = 3};
  if (as_ == stranger::barrier) wants_ = {.mode = 'b', .limit = 2};
}

std::string intrusion::enters() const {
  std::string bytes;
  resp::writer out{bytes, resp::writer::scripts::by_text};
  if (as_ == stranger::latch) {
    dialects::write_once(key_space{}, dialects::latch_set(key_, 1), claim_.owner, whenever, out);
    return bytes;
  }
  auto asked = claim_;
  if (as_ != stranger::mutex) asked.wants = &wants_;
  recipe_of(as_ == stranger::open_latch, as_ == stranger::barrier, as_ == stranger::mutex)
      .write_acquire(asked, false, whenever, out);
  return bytes;
}

std::string intrusion::leaves(std::uint64_t time) const {
  std::string bytes;
  resp::writer out{bytes, resp::writer::scripts::by_text};
  if (as_ == stranger::latch || as_ == stranger::open_latch) {
    const request_id again{client_, 1 + time};
    dialects::write_once(key_space{}, dialects::latch_count_down(key_, 1), again, whenever, out);
    return bytes;
  }
  if (as_ == stranger::barrier && time > 1) return deletion_of_a_barrier(key_);
  auto asked = claim_;
  if (as_ != stranger::mutex) asked.wants = &wants_;
  recipe_of(false, as_ == stranger::barrier, as_ == stranger::mutex).write_withdraw(asked, out);
  return bytes;
}

std::string intrusion::clears(const lock_key& key) {
  const std::string queue = std::string{key.value_key()} + ":w";
  std::string bytes;
  resp::writer out{bytes};
  out.command(4);
  out.arg("EVAL");
  out.arg(
      "for _, one in ipairs(redis.pcall('ZRANGE', KEYS[1], '0', '-1')) do "
      "if string.sub(one, 1, 2) == 'ee' then redis.call('ZREM', KEYS[1], one) end end");
  out.arg("1");
  out.arg(std::string_view{queue});
  return bytes;
}

bool intrusion::is_by_a_stranger(std::string_view request) { return request.starts_with("ee"); }

bool intrusion::came_in(const resp::value& answer) const {
  if (as_ == stranger::latch) {
    const auto verdict = dialects::read_once(answer);
    const auto* const said = std::get_if<substrate::once_answer>(&verdict);
    return said != nullptr && (said->word == "ok" || said->word == "opened");
  }
  const auto verdict =
      recipe_of(as_ == stranger::open_latch, as_ == stranger::barrier, as_ == stranger::mutex)
          .read_acquire(claim_, answer);
  return std::holds_alternative<substrate::granted>(verdict) ||
         std::holds_alternative<substrate::queued>(verdict);
}

}  // namespace holdfast::simulation
