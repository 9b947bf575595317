#include "cli/demo/stories/tell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/demo/crew.hpp"
#include "cli/demo/stage.hpp"
#include "cli/demo/worker.hpp"
#include "cli/output.hpp"

namespace holdfast::cli::demo {

const plot* find_plot(std::string_view name) {
  for (const auto* const one : {&orders, &balance, &leader, &seats}) {
    if (one->name == name) return one;
  }
  return nullptr;
}

namespace {

constexpr std::int64_t longest_freeze_us = 20'000'000;

struct run {
  bool locked = false;
  bool workers_succeeded = false;
  double seconds = 0;
  tally books{};
};

bool is_exact(const run& one) {
  return one.workers_succeeded && one.books.wrong == 0 && one.books.done == one.books.expected;
}

// Without a lock something went wrong; under it nothing, and what came too late was refused.
bool is_as_promised(const run& one, const plot& of) {
  if (!one.locked) return one.workers_succeeded && one.books.wrong > 0;
  return is_exact(one) && (one.books.refused > 0) == of.freezes;
}

// Thaws a worker that froze itself, as soon as the story allows it.
class thawing {
 public:
  explicit thawing(tale& told) : told_(told) {}
  void look(crew& workers) {
    if (workers.frozen() == 0) return;
    if (since_us_ == 0) since_us_ = now_us();
    if (told_.may_thaw() || now_us() - since_us_ > longest_freeze_us) workers.thaw_all();
  }

 private:
  tale& told_;
  std::int64_t since_us_ = 0;
};

std::vector<std::string> words_for(const plot& of, const crowd& all, const std::string& id,
                                   bool locked) {
  return {"--id",        id,
          "--story",     std::string(of.name),
          "--scenario",  locked ? "1" : "0",
          "--processes", std::to_string(all.processes),
          "--threads",   std::to_string(all.threads)};
}

run perform(const plot& of, const connection_options& server, const crowd& all,
            const std::string& id, bool locked, signal_watch& signals) {
  store data(server, id);
  const auto redis = server.connect();
  const auto told = of.begin({data, redis, all.processes * all.threads, locked});
  // With a connection of its own: the other one may have failed and ended the run.
  const clean_up after([&] { store(server, id).remove(told->keys(), told->locks()); });
  told->open();
  run result{.locked = locked};
  const auto began_us = now_us();
  thawing cold(*told);
  crew workers(all.processes, words_for(of, all, id, locked), signals.mask_before());
  while (workers.working()) {
    pause_unless_interrupted(signals);
    workers.look();
    cold.look(workers);
  }
  result.seconds = static_cast<double>(now_us() - began_us) / 1e6;
  result.workers_succeeded = workers.succeeded();
  result.books = told->check();
  return result;
}

std::string name_of(const run& one, const plot& of) {
  return one.locked ? std::string(of.lock) : "no lock";
}

void print_table(const std::vector<run>& runs, const plot& of) {
  table rows({"SCENARIO", "DONE", "EXPECTED", std::string(of.wrong), "LATE WRITES REFUSED",
              "SECONDS", "VERDICT"});
  for (const auto& one : runs) {
    const auto& books = one.books;
    const char* const verdict = !one.workers_succeeded ? "a worker failed"
                                : is_exact(one)        ? "exact"
                                                       : "wrong";
    rows.add({name_of(one, of), std::to_string(books.done), std::to_string(books.expected),
              std::to_string(books.wrong), std::to_string(books.refused),
              fmt::format("{:.1f}", one.seconds), verdict});
  }
  print(rows.text());
}

nlohmann::ordered_json as_json(const run& one, const plot& of) {
  return {{"scenario", one.locked ? "holdfast" : "no_lock"},
          {"lock", name_of(one, of)},
          {"done", one.books.done},
          {"expected", one.books.expected},
          {"wrong", one.books.wrong},
          {"late_writes_refused", one.books.refused},
          {"seconds", one.seconds},
          {"exact", is_exact(one)}};
}

}  // namespace

int tell(const plot& of, const connection_options& server, const crowd& all, const std::string& id,
         signal_watch& signals, const context& shared) {
  const crowd people{all.processes, std::min(all.threads, of.most_threads)};
  std::vector<run> runs;
  for (const bool locked : {false, true}) {
    runs.push_back(perform(of, server, people, id, locked, signals));
  }
  const bool good = std::ranges::all_of(runs, [&](auto& one) { return is_as_promised(one, of); });
  if (shared.json) {
    nlohmann::ordered_json told = {{"story", of.name},
                                   {"processes", people.processes},
                                   {"threads", people.threads},
                                   {"as_promised", good}};
    for (const auto& one : runs) told["scenarios"].push_back(as_json(one, of));
    print_json(told);
  } else {
    print_table(runs, of);
  }
  return good ? success : problem_found;
}

int take_part(const plot& of, const context& shared, const std::string& id, const crowd& all,
              int number, bool locked) {
  store data(shared.connection, id);
  const auto redis = shared.connection.connect();
  const auto told = of.begin({data, redis, all.processes * all.threads, locked});
  return run_threads(all.threads, shared,
                     [&](int thread) { told->act(number * all.threads + thread); });
}

}  // namespace holdfast::cli::demo
