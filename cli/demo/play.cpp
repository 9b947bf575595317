#include "cli/demo/play.hpp"

#include <poll.h>

#include "cli/demo/crew.hpp"
#include "cli/demo/freezer.hpp"
#include "cli/demo/stock_store.hpp"
#include "cli/output.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr int look_every_ms = 5;

// Removes the keys with a connection of its own: what ended the sale may have been the other one.
class clean_up {
 public:
  clean_up(const connection_options& server, std::string id)
      : server_(server), id_(std::move(id)) {}
  ~clean_up() {
    try {
      stock_store(server_, id_).remove_all();
    } catch (const std::exception& error) {
      note({}, "keys_left",
           "the keys of the demo could not be removed: " + std::string(error.what()));
    }
  }
  clean_up(const clean_up&) = delete;
  clean_up& operator=(const clean_up&) = delete;

 private:
  const connection_options& server_;
  const std::string id_;
};

void pause_unless_interrupted(signal_watch& signals) {
  pollfd watched{signals.fd(), POLLIN, 0};
  ::poll(&watched, 1, look_every_ms);
  while (const auto signal = signals.next()) {
    if (ends_programs(*signal)) throw interrupted{*signal};
  }
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
  const clean_up after(server, id);
  stock_store store(server, id);
  store.open(all.units);
  outcome result;
  result.what = what;
  result.units = all.units;
  result.began_us = now_us();
  freezer cold(store, what, all.units);
  crew workers(all, what, id, signals.mask_before());
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
