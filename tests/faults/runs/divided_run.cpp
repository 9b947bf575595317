#include "faults/runs/divided_run.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

namespace holdfast::faults {
namespace {

using history::event;
using history::kind;

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

void pause(milliseconds time) { ::poll(nullptr, 0, int(time.count())); }

}  // namespace

divided_run::divided_run(const support::private_network& network, const std::string& server)
    : network_(network), resources_({.program = server}), log_(directory_.path()) {}

void divided_run::play(const std::vector<party>& parties, const std::vector<std::size_t>& apart,
                       milliseconds divided, bool forgotten,
                       const std::function<void()>& meanwhile) {
  const auto until = time_now() + before + divided + afterwards;
  std::vector<std::jthread> running;  // joined also when something throws
  std::set<std::string> names;
  for (std::size_t i = 0; i < parties.size(); ++i) {
    const auto locks = network_.at(parties[i].host, parties[i].connect);
    for (const auto& one : locks) names.insert(one.name);
    for (int thread = 0; thread < threads; ++thread) {
      running.emplace_back([=, this] {
        contender(locks, resources_.socket(), tokens::checked, std::int64_t(i + 1), until, log_,
                  i * threads + std::uint64_t(thread))
            .run();
      });
    }
  }
  pause(before);
  const auto begin = time_now();
  network_.divide(apart);
  divided_.from = time_now();
  meanwhile();
  pause(std::chrono::floor<milliseconds>(begin + divided - time_now()));
  divided_.to = time_now();
  network_.heal();
  const auto end = time_now();
  log_.record({.time = begin, .what = kind::broken, .until = end});
  if (forgotten) log_.record({.time = begin, .what = kind::emptied, .until = end});
  log_.record({.time = end, .what = kind::healed});
  running.clear();
  tell_writes({names.begin(), names.end()});
}

void divided_run::tell_writes(const std::vector<std::string>& locks) {
  resource all(resources_.socket(), tokens::ignored);
  for (const auto& name : locks) {
    for (const auto& one : all.log(name)) log_.record(one);
  }
  all_ = history::read_merged({directory_.path() / (std::to_string(::getpid()) + ".events")});
}

std::string divided_run::violations() {
  std::string text;
  for (const auto& one : history::check(history::story(all_), within)) text += to_text(one);
  return text;
}

std::size_t divided_run::won(std::size_t party, milliseconds after) const {
  std::set<std::uint64_t> asked;
  std::size_t count = 0;
  for (const auto& one : all_) {
    if (one.process != std::int64_t(party + 1) || one.time > divided_.to) continue;
    if (one.what == kind::called && one.time > divided_.from + after) asked.insert(one.operation);
    if (one.what == kind::won && asked.contains(one.operation)) ++count;
  }
  return count;
}

}  // namespace holdfast::faults
