#include "doctor/vote_trial.hpp"

#include <chrono>
#include <variant>

#include "base/lock_key.hpp"
#include "lease/server_clock.hpp"
#include "redis/calls/ask.hpp"
#include "redis/dialects/holdfast/quorum.hpp"
#include "redis/locks/redis_engine.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast::doctor {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds longest_lease = 30s;

template <typename Wanted, typename Verdict>
Wanted expect(const Verdict& got) {
  if (const auto* const wanted = std::get_if<Wanted>(&got)) return *wanted;
  if (const auto* const why = std::get_if<substrate::refused>(&got)) {
    throw failure{why->code, why->detail};
  }
  throw failure{errc::server_error, "the server answered as if the trial's lock were another's"};
}

// Votes, prolongs the vote and takes it back.
class vote_trial {
 public:
  vote_trial(runtime::client_core& core, const std::string& name)
      : core_(core),
        key_(redis_locks::engine_of(core).key_of(name)),
        claim_{.key = &key_,
               .owner = redis_locks::engine_of(core).next_request(),
               .lease = 10s,
               .at_group = redis_locks::engine_of(core).follows_sentinels(),
               .is_trial = true} {}

  void run() {
    const auto vote = asked([&](resp::writer& out) {
      dialects::write_quorum_acquire(claim_, substrate::newcomer::joins, longest_lease,
                                     leasing::far_future, out);
    });
    claim_.token = expect<substrate::granted>(dialects::read_vote(claim_, vote)).major;
    const auto kept = asked([&](resp::writer& out) {
      dialects::write_quorum_keep(claim_, true, longest_lease, leasing::far_future, out);
    });
    expect<substrate::renewed>(dialects::read_quorum_keep(kept));
    const auto released =
        asked([&](resp::writer& out) { dialects::write_quorum_release(claim_, false, out); });
    expect<substrate::released>(dialects::read_quorum_release(released));
  }

  // A refusal was told before.
  void clean_up() {
    const auto end = [&](resp::writer& out) { dialects::write_end_of_trial(claim_, out); };
    (void)calls::ask(core_, key_.slot(), end, redis_locks::unstoppable());
  }

 private:
  resp::value asked(const calls::writing& write) { return calls::ask(core_, key_.slot(), write); }

  runtime::client_core& core_;
  const lock_key key_;
  substrate::quorum_claim claim_;
};

}  // namespace

void try_a_vote(const client& redis, const std::string& name) {
  vote_trial trial(*detail::lock_access::core(redis), name);
  try {
    trial.run();
  } catch (const failure&) {
    try {
      trial.clean_up();
    } catch (const failure&) {  // the first one says why
    }
    throw;
  }
  trial.clean_up();
}

}  // namespace holdfast::doctor
