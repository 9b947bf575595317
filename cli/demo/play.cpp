#include "cli/demo/play.hpp"

#include "cli/demo/crew.hpp"
#include "cli/demo/freezer.hpp"
#include "cli/demo/stage.hpp"
#include "cli/demo/stock_store.hpp"

namespace holdfast::cli::demo {
namespace {

std::vector<std::string> words_for(const sale& all, scenario what, const std::string& id) {
  return {"--id",        id,
          "--scenario",  std::to_string(static_cast<int>(what)),
          "--processes", std::to_string(all.processes),
          "--threads",   std::to_string(all.threads),
          "--units",     std::to_string(all.units)};
}

void close_books(stock_store& store, outcome& result) {
  result.orders = store.orders();
  for (const auto& one : result.orders) result.sold += one.units;
  result.left = store.stock();
  result.foreign_deleted = store.counted("foreign");
  result.late_refused = store.counted("late");
}

}  // namespace

outcome play(const connection_options& server, const sale& all, scenario what,
             const std::string& id, signal_watch& signals, const progress& show) {
  // With a connection of its own: the other one may have failed and ended the sale.
  const clean_up after([&] { stock_store(server, id).remove_all(); });
  stock_store store(server, id);
  store.open(all.units);
  outcome result;
  result.what = what;
  result.units = all.units;
  result.began_us = now_us();
  freezer cold(store, what, all.units);
  crew workers(all.processes, words_for(all, what, id), signals.mask_before());
  while (workers.working()) {
    pause_unless_interrupted(signals);
    workers.look();
    cold.look(workers);
    show(what, store.stock(), cold.freezes());
  }
  result.seconds = static_cast<double>(now_us() - result.began_us) / 1e6;
  result.frozen = cold.freezes();
  result.saw_two_inside = cold.saw_two_inside();
  result.workers_succeeded = workers.succeeded();
  close_books(store, result);
  return result;
}

}  // namespace holdfast::cli::demo
