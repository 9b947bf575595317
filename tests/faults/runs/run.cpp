#include "faults/runs/run.hpp"

#include <poll.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace holdfast::faults {

namespace {

using history::event;
using history::kind;

// Everything that a run needs, from its first process to the last.
class stage {
 public:
  explicit stage(const plan& what)
      : plan_(what),
        server_({.program = what.server}),
        resources_({.program = what.server}),
        network_(net::unix_endpoint{server_.socket()}),
        log_(what.directory),
        random_(what.seed) {}

  void play(findings& into) {
    const auto& fault = plan_.what;
    const bool fenced = fault.expected != expectation::lost_writes;
    crew workers({.server = fault.through_proxy ? network_.url() : server_.url(),
                  .resources = resources_.socket(),
                  .directory = plan_.directory,
                  .seed = plan_.seed,
                  .mode = fenced ? tokens::checked : tokens::ignored},
                 log_);
    // Not before all are there: on a busy machine that takes longer than a short run.
    const auto until = time_now() + plan_.time;
    workers.begin(until);
    scene here{server_, network_, workers, log_, random_};
    while (time_now() < until) {
      ::poll(nullptr, 0, int(50 + here.any(150)));
      fault.strike(here);
      ++into.strikes;
    }
    into.strikes -= here.missed;
    log_.record({.what = kind::healed});
    const auto complaints = workers.finish();
    if (!complaints.empty()) log_.record({.what = kind::left, .note = complaints});
  }

  // After all have gone: no lock, nothing that stays for ever, and no queue unless of the dead.
  void look_for_leftovers() {
    std::vector<event> left;
    const bool clean = support::eventually(
        [&] {
          left = leftovers();
          return left.empty();
        },
        longest_lease() + milliseconds(1000));
    if (clean) return;
    for (const auto& one : left) log_.record(one);
  }

  void tell_writes() {
    resource all(resources_.socket(), tokens::ignored);
    for (const auto& lock : contests()) {
      for (const auto& one : all.log(lock.name)) log_.record(one);
    }
  }

 private:
  std::vector<event> leftovers() const {
    std::vector<event> left;
    for (const auto& key : server_.command({"KEYS", "*"}).items) {
      const auto& name = key.text;
      if (name.starts_with("hf:fence:")) continue;
      const bool stays = server_.command({"PTTL", name}).number == -1;
      const bool may_expire = name.starts_with("hf:client:") || name == "hf:held" ||
                              (plan_.what.leaves_queue && name.ends_with("}:w")) ||
                              (plan_.what.leaves_queue && name.ends_with("}:i"));
      if (stays || !may_expire) left.push_back({.what = kind::left, .note = name});
    }
    for (const auto& channel : server_.command({"PUBSUB", "CHANNELS"}).items) {
      left.push_back({.what = kind::left, .note = channel.text});
    }
    return left;
  }

  const plan& plan_;
  support::private_server server_;
  support::private_server resources_;
  support::fault_proxy network_;
  recorder log_;
  std::mt19937_64 random_;
};

std::vector<event> whole_history(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& one : std::filesystem::directory_iterator(directory)) {
    if (one.path().extension() == ".events") files.push_back(one.path());
  }
  return history::read_merged(files);
}

void count(const std::vector<event>& all, findings& into) {
  const auto number = [&all](kind what) {
    return std::size_t(std::count_if(all.begin(), all.end(),
                                     [what](const event& one) { return one.what == what; }));
  };
  into.acquisitions = number(kind::won);
  into.changes = number(kind::changed);
  into.losses = number(kind::lost);
  into.refused_writes = number(kind::refused);
}

// A fault that hit nobody shows nothing. The control must lose writes, which readers may see;
// nothing else may be wrong with it.
std::vector<history::violation> judge(std::vector<history::violation> found, const fault& what,
                                      std::size_t strikes) {
  if (strikes == 0) found.push_back({"strikes", "none", "not one of them hit anybody", {}});
  if (what.expected == expectation::all_promises) return found;
  std::erase_if(found, [](const auto& one) { return one.invariant == "I13"; });
  const auto lost = std::erase_if(
      found, [](const auto& one) { return one.invariant == "I5" || one.invariant == "I6"; });
  if (lost == 0) found.push_back({"control", "none", "no write was lost: it shows nothing", {}});
  return found;
}

}  // namespace

findings run(const plan& what) {
  findings result;
  {
    stage here(what);
    here.play(result);
    here.look_for_leftovers();
    here.tell_writes();
  }
  const auto all = whole_history(what.directory);
  count(all, result);
  for (const auto& one :
       judge(check(history::story(all), what.what.within), what.what, result.strikes)) {
    result.violations += to_text(one);
    ++result.count;
  }
  return result;
}

}  // namespace holdfast::faults
