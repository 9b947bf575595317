// Id generators and snowflakes.
//
//   id_generator.hpp: "Ids from a counter on the server: 1, 2, 3, ... with gaps."; "no two are the
//     same; those of one generator grow; with `block = 1` every id is larger than all that were
//     returned, by anybody, before it was asked for."
//   values.md, Blocks: "A generator takes the next `block` ids from the counter"
//   id_generator.hpp, snowflakes: "41 bits for the milliseconds since 2020, 10 for the machine, 12
//     for a number"; next: "larger than the one before"
//   client.hpp, snowflake: "`busy` when all machine numbers are taken"
//   values.md: "The time in an id is the server's. It is estimated so that it is never ahead, and
//     it begins after the grant of that lock."
#include <algorithm>
#include <map>
#include <set>

#include "net/clock.hpp"
#include "reference/kinds.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence unique{
    "include/holdfast/id_generator.hpp",
    "no two are the same; those of one generator grow; with `block = 1` every "
    "id is larger than all that were returned, by anybody, before it was asked "
    "for."};
constexpr sentence blocks{"docs/values.md",
                          "A generator takes the next `block` ids from the counter"};
constexpr sentence layout{"include/holdfast/id_generator.hpp",
                          "41 bits for the milliseconds since 2020, 10 for the machine, 12 for a "
                          "number"};
constexpr sentence grows{"include/holdfast/id_generator.hpp, snowflake_generator::next",
                         "The next id; larger than the one before."};
constexpr sentence machines{"include/holdfast/client.hpp, snowflake",
                            "`busy` when all machine numbers are taken"};

struct generator {
  id_generator at;
  std::uint32_t block;
  std::int64_t next = 1, last = 0;  // what is left of its block: next to last
};

}  // namespace

void play_ids(run& choices) {
  const auto name = choices.fresh_name();
  std::vector<generator> all;
  for (int i = 0; i < 3; ++i) {
    const auto block =
        static_cast<std::uint32_t>(choices.one_of(std::vector<int>{1, 1, 2, 5, 100}));
    all.push_back(
        {choices.of(static_cast<std::size_t>(i)).id_generator(name, {.block = block}), block});
  }
  std::set<std::int64_t> given;
  std::int64_t counter = 0;
  for (auto left = choices.between(20, 120); left > 0; --left) {
    auto& one = all[choices.below(all.size())];
    const auto id = one.at.next();
    choices.did("block " + std::to_string(one.block) + ": " + std::to_string(id));
    if (one.next > one.last) {
      one.next = counter + 1;
      one.last = counter += one.block;
    }
    choices.expect(given.insert(id).second, unique, std::to_string(id) + " came twice");
    if (one.block == 1) {
      choices.expect(id == *given.rbegin(), unique, std::to_string(id) + " is not the largest");
    }
    choices.expect(id == one.next, blocks, "it should be " + std::to_string(one.next));
    ++one.next;
  }
}

void play_snowflake(run& choices) {
  const auto name = choices.fresh_name();
  const auto count = static_cast<std::uint32_t>(choices.between(1, 4));
  std::map<std::uint32_t, std::pair<snowflake_generator, std::int64_t>> live;
  std::set<std::int64_t> given;
  for (auto left = choices.between(20, 80); left > 0; --left) {
    if (choices.chance(10)) {
      std::optional<snowflake_generator> made;
      const auto said = outcome_of_call([&] {
        made =
            choices.of(choices.below(choices.on().clients())).snowflake(name, {.machines = count});
      });
      choices.did("a generator of " + std::to_string(count) + ": " + said);
      choices.expect(said == (live.size() < count ? "ok" : "busy"), machines,
                     std::to_string(live.size()) + " are there, and it said " + said);
      if (made) {
        choices.expect(made->machine() < count && !live.contains(made->machine()), machines,
                       "machine " + std::to_string(made->machine()));
        live.emplace(made->machine(), std::pair{*made, 0});
      }
    } else if (!live.empty() && choices.chance(5)) {
      const auto number = live.begin()->first;
      live.erase(live.begin());
      const auto lock = name + ":machine:" + std::to_string(number);
      choices.expect(support::eventually([&] {
                       return choices.on().looks().status(lock).state == lock_state::free;
                     }),
                     machines, "the number of a generator that is gone is not free");
      choices.did("a generator ends");
    } else if (!live.empty()) {
      auto at = live.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(choices.below(live.size())));
      auto& [one, last] = at->second;
      const auto id = one.next();
      const auto latest = std::chrono::duration_cast<milliseconds>(net::wall_time()).count();
      constexpr std::int64_t year_2020 = 1'577'836'800'000;
      choices.did("machine " + std::to_string(at->first) + ": " + std::to_string(id));
      choices.expect(id > last && given.insert(id).second, grows,
                     std::to_string(id) + " after " + std::to_string(last));
      last = id;
      choices.expect(((id >> 12) & 1023) == at->first, layout, "another machine in the id");
      const auto time = (id >> 22) + year_2020;
      // The time is the server's, which may show a millisecond more than there is (Valkey 9.1).
      choices.expect(time <= latest + 1 && time > latest - 60'000, layout,
                     "the time of the id is " + std::to_string(latest - time) + " ms ago");
    }
  }
}

}  // namespace holdfast::reference
