#include "redis/dialects/holdfast/gate.hpp"

#include "base/printable.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/nothing.hpp"

namespace holdfast::dialects {

refused not_a_gate(const lock_key& key) {
  return {errc::foreign_key, false,
          "the key " + printable(key.value_key()) +
              " holds something of another kind; choose another name or remove that key"};
}

acquire_verdict gate_recipe::read_acquire(const claim& wanted, const resp::value& v) const {
  const std::string_view word = leading_word(v);
  if (word == "open" && v.items.size() == 2) {
    // It stays true however late it is heard.
    if (const auto major = read_major(v.items[1])) return granted{*major, longest_ttl, true};
  }
  if (word == "shut") return busy{};
  if (word == "foreign") return not_a_gate(*wanted.key);
  if (word == "gone") {
    return refused{
        errc::lost, false,
        "this party did not ask for too long, and the others may have gone on without it"};
  }
  if (word == "parties" && v.items.size() == 2 && v.items[1].is_text()) {
    return refused{errc::invalid_argument, false,
                   "others wait there for " + printable(v.items[1].text) +
                       " parties in all: every party must give the same number"};
  }
  return native_recipe::read_acquire(wanted, v);
}

// Never sent: nothing is held that could be renewed. Should it be, the answer is that nothing is
// held.
void gate_recipe::write_renew(std::span<const claim* const>, server_time, resp::writer& out) const {
  write_nothing(out);
}

}  // namespace holdfast::dialects
