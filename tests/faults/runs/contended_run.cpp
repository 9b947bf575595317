#include "faults/runs/contended_run.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

namespace holdfast::faults {
namespace {

constexpr int threads = 2;  // of each party
constexpr milliseconds before{1500};
constexpr milliseconds afterwards{1500};

// Those who are cut off notice it by silence; afterwards sentinels take some seconds to agree.
constexpr milliseconds noticed{5000};
constexpr milliseconds a_claim{1000};
constexpr milliseconds no_order{3'600'000};
constexpr history::bounds within{.lock_free = {noticed, a_claim},
                                 .lock_orphaned = {noticed, a_claim},
                                 .return_late = milliseconds(2000),
                                 .loss_late = milliseconds(1000),
                                 .call_arrives = no_order,
                                 .healing = milliseconds(20'000)};

}  // namespace

contended_run::contended_run(const std::string& server)
    : resources_({.program = server}), log_(directory_.path()) {}

void contended_run::play(const std::vector<std::vector<contended>>& parties, milliseconds length,
                         const std::function<void()>& meanwhile) {
  const auto until = time_now() + before + length + afterwards;
  observer sees(log_);
  std::vector<std::jthread> running;  // joined also when something throws
  std::set<std::string> names;
  for (std::size_t i = 0; i < parties.size(); ++i) {
    for (const auto& one : parties[i]) names.insert(one.name);
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([=, this, &sees, locks = parties[i]] {
        contender(locks, resources_.socket(), tokens::checked, std::int64_t(i + 1), until, log_,
                  sees, i * threads + std::uint64_t(thread))
            .run();
      });
    }
  }
  ::poll(nullptr, 0, int(before.count()));
  meanwhile();
  running.clear();
  tell_writes({names.begin(), names.end()});
}

void contended_run::tell_writes(const std::vector<std::string>& locks) {
  resource all(resources_.socket(), tokens::ignored);
  for (const auto& name : locks) {
    for (const auto& one : all.log(name)) log_.record(one);
  }
  all_ = history::read_merged({directory_.path() / (std::to_string(::getpid()) + ".events")});
}

std::string contended_run::violations() const {
  std::string text;
  for (const auto& one : history::check(history::story(all_), within)) text += to_text(one);
  return text;
}

std::size_t contended_run::count(history::kind what) const {
  return static_cast<std::size_t>(std::ranges::count(all_, what, &history::event::what));
}

}  // namespace holdfast::faults
