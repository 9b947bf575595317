// The leader, as an election tells it.
//
//   election.hpp, leader: "The present leader, if there is one."
//   election.hpp, observe: "Calls `tell` with the leader, at first and then at every change; with
//     nothing if nobody leads. [...] A leader that led only for a moment between two calls may be
//     left out."
//   election.hpp: "To release the lease is to resign; the next candidate leads at once."
#include <deque>
#include <mutex>

#include "reference/kinds.hpp"
#include "reference/promises.hpp"
#include "support/eventually.hpp"

namespace holdfast::reference {
namespace {

constexpr sentence leads{"include/holdfast/election.hpp, leader",
                         "The present leader, if there is one."};
constexpr sentence tells{"include/holdfast/election.hpp, observe",
                         "Calls `tell` with the leader, at first and then at every change; with "
                         "nothing if nobody leads."};

}  // namespace

void play_leader(run& choices) {
  const auto name = choices.fresh_name();
  std::mutex guard;
  std::vector<fencing_token> told;  // no token: nobody
  const auto watching = choices.of(0).election(name).observe([&](const std::optional<leader>& now) {
    const std::lock_guard lock(guard);
    told.push_back(now ? now->token : fencing_token{});
  });
  std::optional<lease> held;
  fencing_token largest;
  for (auto left = choices.between(4, 12); left > 0; --left) {
    const auto by = choices.below(choices.on().clients());
    if (held) {
      const auto said = outcome_of(held->release());
      choices.did("the leader resigns: " + said);
      choices.expect(said == "ok", promises::released, "a release said " + said);
      held.reset();
    } else {
      auto got = choices.of(by).election(name).try_acquire();
      choices.did("client " + std::to_string(by) + " campaigns: " + outcome_of(got));
      choices.expect(static_cast<bool>(got), promises::once, "nobody leads, and it is busy");
      choices.expect(got->token() > largest, promises::tokens, "a smaller token");
      largest = got->token();
      held.emplace(std::move(*got));
    }
    const auto expected = held ? held->token() : fencing_token{};
    const auto now = choices.of(by).election(name).leader();
    choices.expect((now ? now->token : fencing_token{}) == expected, leads,
                   "leader() says another");
    choices.expect(support::eventually(
                       [&] {
                         const std::lock_guard lock(guard);
                         return !told.empty() && told.back() == expected;
                       },
                       milliseconds{8'000}),
                   tells, "what was told last is not so");
  }
}

}  // namespace holdfast::reference
