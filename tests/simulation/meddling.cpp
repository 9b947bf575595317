#include "simulation/meddling.hpp"

#include "redis/dialects/holdfast/inspect.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::simulation {
namespace {

std::string deletion_of(const std::string& key) {
  std::string bytes;
  resp::writer out{bytes};
  out.command(2);
  out.arg("DEL");
  out.arg(std::string_view{key});
  return bytes;
}

std::string breaking(const kind& of, const lock_key& key) {
  std::string bytes;
  resp::writer out{bytes, resp::writer::scripts::by_text};
  if (&of == &mutex_kind()) {
    dialects::write_break(key, whenever, out);
  } else {
    dialects::write_break_shared(key, whenever, out);
  }
  return bytes;
}

}  // namespace

meddling draw_meddling(dice& dice, const kind& of, const lock_key& key) {
  const std::string value{key.value_key()};
  switch (dice.up_to(4)) {
    case 0:
      return {deletion_of(value + ":w")};
    case 1:
      return {deletion_of(value + ":i")};
    case 2:
      return {deletion_of(value), true};
    case 3:
      return {breaking(of, key), true};
    default:
      return {.command = deletion_of(key.fence_key()), .loses_counter = true};
  }
}

}  // namespace holdfast::simulation
