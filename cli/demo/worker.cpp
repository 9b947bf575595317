#include "cli/demo/worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <holdfast/client.hpp>

#include "cli/demo/stock_store.hpp"
#include "cli/demo/stories/tell.hpp"
#include "cli/output.hpp"

namespace holdfast::cli::demo {
namespace {

using namespace std::chrono_literals;

constexpr int setnx_ttl_ms = 300;      // as short as the demo is impatient
constexpr auto fenced_lease = 1000ms;  // likewise

struct assignment {
  std::string id;
  std::string story = "stock";
  pid_t parent = 0;
  int what = 0;
  int number = 0;  // of this worker
  sale all;
};

class shop {
 public:
  shop(const context& shared, const assignment& given)
      : given_(given),
        what_(static_cast<scenario>(given.what)),
        store_(shared.connection, given.id),
        redis_(shared.connection.connect()),
        lock_(redis_.mutex(store_.lock_name(), options())) {}

  // The work of one buyer.
  void buy(int buyer) {
    std::mt19937 random(static_cast<unsigned>(buyer + 1));
    for (int i = 0; i < given_.all.orders_per_buyer(); ++i) {
      pause_for(uniform(random, 0, 2 * given_.all.buyers()));
      const auto index = buyer * given_.all.orders_per_buyer() + i;
      place(1 + index % given_.all.most_per_order(), buyer, random);
    }
  }

 private:
  mutex_options options() const {
    mutex_options chosen;
    if (what_ == scenario::fenced) chosen.lease = fenced_lease;
    return chosen;
  }

  static int uniform(std::mt19937& random, int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  }

  void place(std::int64_t units, int buyer, std::mt19937& random) {
    switch (what_) {
      case scenario::no_lock:
        return take(units);
      case scenario::setnx:
        return take_under_setnx(units, buyer, random);
      case scenario::holdfast: {
        if (store_.stock() <= 0) return;
        const auto held = lock_.acquire({.timeout = forever});
        return take(units);
      }
      case scenario::fenced:
        while (!take_fenced(units)) store_.count("late");
    }
  }

  // Read, check, work, write: right only when nobody else does the same meanwhile.
  void take(std::int64_t wanted) {
    const auto stock = store_.stock();
    const auto units = std::min(wanted, stock);
    if (units <= 0) return;
    work();
    store_.write(stock - units, units);
  }

  void take_under_setnx(std::int64_t units, int buyer, std::mt19937& random) {
    const auto owner = std::to_string(buyer);
    while (!store_.set_if_absent(owner, setnx_ttl_ms)) {
      if (store_.stock() <= 0) return;
      pause_for(uniform(random, 1, std::max(4, given_.all.buyers() / 8)));
    }
    take(units);
    const auto deleted = store_.delete_lock();  // the mistake: perhaps it is somebody else's
    if (deleted && *deleted != owner) store_.count("foreign");
  }

  // Writes as if it still had the lock, whatever happened: only the token protects the stock.
  bool take_fenced(std::int64_t wanted) {
    if (store_.stock() <= 0) return true;
    const auto held = lock_.acquire({.timeout = forever});
    const auto stock = store_.stock();
    const auto units = std::min(wanted, stock);
    if (units <= 0) return true;
    work();
    return store_.write_fenced(stock - units, units, held.token().value());
  }

  // Where a real process is paged out, suspended or stops for its garbage collector.
  void work() {
    if (what_ == scenario::setnx || what_ == scenario::fenced) store_.freeze_if_ordered();
    pause_for(work_ms);
  }

  assignment given_;
  scenario what_;
  stock_store store_;
  client redis_;
  lock lock_;
};

// A frozen worker would stay for ever when nobody is left to thaw it.
void end_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::raise(SIGKILL);  // died before
}

int run_worker(const context& shared, const assignment& given) {
  end_with(given.parent);
  if (const auto* const other = find_plot(given.story)) {
    return take_part(*other, shared, given.id, {given.all.processes, given.all.threads},
                     given.number, given.what != 0);
  }
  shop open(shared, given);
  return run_threads(given.all.threads, shared,
                     [&](int thread) { open.buy(given.number * given.all.threads + thread); });
}

}  // namespace

int run_threads(int threads, const context& shared, const std::function<void(int)>& work) {
  std::atomic<bool> failed{false};
  std::vector<std::jthread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      try {
        work(i);
      } catch (const std::exception& error) {
        if (!failed.exchange(true)) report_exception(shared, error);
      }
    });
  }
  all.clear();
  return failed ? internal : success;
}

void add_worker(CLI::App& program, context& shared) {
  auto given = std::make_shared<assignment>();
  auto* const command = program.add_subcommand("demo-worker", "")->group("");
  command->add_option("--id", given->id)->required();
  command->add_option("--parent", given->parent)->required();
  command->add_option("--scenario", given->what)->required()->check(CLI::Range(0, 3));
  command->add_option("--number", given->number)->required();
  command->add_option("--processes", given->all.processes)->required();
  command->add_option("--threads", given->all.threads)->required();
  command->add_option("--units", given->all.units);
  command->add_option("--story", given->story);
  command->callback([given, &shared] {
    shared.action = [given, &shared] { return run_worker(shared, *given); };
  });
}

}  // namespace holdfast::cli::demo
