#include "cli/demo/play.hpp"

#include "cli/demo/crew.hpp"
#include "cli/demo/stock_store.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr int look_every_ms = 5;
constexpr int enough_freezes = 3;
constexpr int most_freezes = 20;
constexpr std::int64_t longest_freeze_us = 10'000'000;

// Has a holder frozen in the middle of its work, and thaws it when others have gone on without it.
class freezer {
 public:
  freezer(stock_store& store, scenario what) : store_(store), what_(what) {
    if (what == scenario::setnx || what == scenario::fenced) store.order_freeze();
  }

  void look(crew& workers) {
    if (workers.frozen() == 0) return;
    if (since_us_ == 0) {
      since_us_ = now_us();
      recorded_ = store_.recorded();
    }
    if (!others_went_on() && now_us() - since_us_ < longest_freeze_us) return;
    since_us_ = 0;
    ++freezes_;
    if (!proved()) store_.order_freeze();
    workers.thaw();
  }

  int freezes() const { return freezes_; }

 private:
  // For the accidental deletion, somebody else must have the lock right now.
  bool others_went_on() {
    return store_.recorded() > recorded_ && (what_ == scenario::fenced || store_.locked());
  }

  bool proved() {
    if (freezes_ < enough_freezes) return false;
    return freezes_ >= most_freezes || what_ == scenario::fenced || store_.counted("foreign") > 0;
  }

  stock_store& store_;
  scenario what_;
  std::int64_t since_us_ = 0;
  std::int64_t recorded_ = 0;
  int freezes_ = 0;
};

void close_books(stock_store& store, outcome& result) {
  result.orders = store.orders();
  for (const auto& one : result.orders) result.sold += one.units;
  result.left = store.stock();
  result.foreign_deleted = store.counted("foreign");
  result.late_refused = store.counted("late");
}

}  // namespace

outcome play(const connection_options& server, const sale& all, scenario what,
             const std::string& prefix, const progress& show) {
  stock_store store(server, prefix);
  store.open(all.units);
  outcome result;
  result.what = what;
  result.units = all.units;
  result.began_us = now_us();
  freezer cold(store, what);
  crew workers(all, what, prefix);
  while (workers.working()) {
    pause_for(look_every_ms);
    workers.look();
    cold.look(workers);
    show(what, store.stock(), cold.freezes());
  }
  result.seconds = static_cast<double>(now_us() - result.began_us) / 1e6;
  result.frozen = cold.freezes();
  result.workers_succeeded = workers.succeeded();
  close_books(store, result);
  store.remove_all();
  return result;
}

}  // namespace holdfast::cli::demo
