// holdfast watch NAME: a line for every change of a lock.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <holdfast/election.hpp>
#include <holdfast/errc.hpp>
#include <holdfast/inspector.hpp>

#include "cli/bell.hpp"
#include "cli/commands.hpp"
#include "cli/dialect_choice.hpp"
#include "cli/duration.hpp"
#include "cli/lock_table.hpp"
#include "cli/names.hpp"
#include "cli/next_look.hpp"
#include "cli/output.hpp"
#include "cli/printable.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct watch_options {
  std::vector<std::string> names;
  dialect how;
  std::chrono::milliseconds interval = 500ms;
  int count = 0;  // 0: until interrupted
};

// A change is another state, other holders or waiters, or other permits. Not the time that is left.
bool differs(const lock_status& a, const lock_status& b) {
  const auto grants = [](const lock_status& lock) {
    std::vector<std::pair<std::string, fencing_token>> all;
    for (const auto& one : lock.holders) all.emplace_back(one.who.id, one.token);
    return all;
  };
  const auto is_same = [](const waiter& one, const waiter& other) {
    return one.who.id == other.who.id;
  };
  return a.state != b.state || grants(a) != grants(b) || a.holding != b.holding ||
         a.waiting != b.waiting || !std::ranges::equal(a.queue, b.queue, is_same) ||
         a.permits != b.permits || a.count != b.count;
}

std::string line_of(const lock_status& lock) {
  const auto at = show_now();
  const auto waiting = fmt::format("{} waiting", lock.waiting);
  switch (lock.state) {
    case lock_state::free:
      return fmt::format("{}  free, {}\n", at, waiting);
    case lock_state::foreign:
      return fmt::format("{}  not a Holdfast lock: {}\n", at, printable(lock.detail));
    case lock_state::shut:
      return fmt::format("{}  {}, {}\n", at, show_kind(lock), waiting);
    case lock_state::held:
      break;
  }
  return fmt::format("{}  held by {}, token {}, {}\n", at, show_owner(lock), lock.token.to_string(),
                     waiting);
}

void show(const lock_status& lock, bool json) {
  if (!json) {
    print(line_of(lock));
  } else {
    auto object = to_json(lock);
    object["at"] = show_now();
    print(object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  }
  std::fflush(stdout);
}

// However often a lock changes: its server is not to suffer from being watched.
constexpr auto shortest_pause = 20ms;

bool is_mutex_or_free(const lock_status& lock) {
  const bool is_free = lock.state == lock_state::free;
  return lock.dialect == "holdfast" && (is_free || lock.kind == lock_kind::mutex);
}

// Problems that pass by themselves: the server is started again, for example.
bool may_pass(errc reason) {
  return reason == errc::unavailable || reason == errc::loading || reason == errc::server_busy;
}

// Looks at the lock, also when the server goes and comes back. One that never was there is an
// error.
class observer {
 public:
  observer(const watch_options& options, const context& shared)
      : options_(options),
        shared_(shared),
        redis_(shared.connection.connect()),
        inspector_(redis_) {}

  // The lock, if it is another than at the last look.
  std::optional<lock_status> change() {
    try {
      auto now = look();
      is_away_ = false;
      if (last_ && !differs(*last_, now)) return std::nullopt;
      last_ = std::move(now);
      return last_;
    } catch (const failure& why) {
      if (!last_ || !may_pass(why.reason())) throw;
      if (!std::exchange(is_away_, true)) note(shared_, name_of(why.reason()), why.what());
      return std::nullopt;
    }
  }

  // Until the next look, which is due at once when the server tells that a mutex of ours has
  // changed hands.
  std::optional<int> pause(signal_watch& signals) {
    if (const auto signal = wait_for_next_look(shortest_pause, signals)) return signal;
    if (!told_ && !is_away_ && is_mutex_or_free(*last_)) observe();
    const auto signal = wait_for_next_look(options_.interval - shortest_pause, signals, &rung_);
    if (rung_.was_rung()) stop_observing();
    return signal;
  }

 private:
  lock_status look() const {
    const ends_at_once meanwhile;
    return inspector_.status(options_.names.front(), options_.how);
  }

  // Until it is told of the first change: a lock may change more often than anybody wants to hear.
  // To elect is to acquire a mutex.
  void observe() {
    told_ = redis_.election(last_->name)
                .observe([this, id = last_->owner.id, token = last_->token](const auto& leads) {
                  const bool is_same =
                      leads ? leads->who.id == id && leads->token == token : id.empty();
                  if (!is_same) rung_.ring();
                });
  }

  void stop_observing() {
    const ends_at_once meanwhile;
    told_.reset();
  }

  const watch_options& options_;
  const context& shared_;
  const client redis_;
  const inspector inspector_;
  std::optional<lock_status> last_;
  bool is_away_ = false;  // the server, and that was said
  const bell rung_;
  std::optional<observation> told_;
};

int watch(const watch_options& options, const context& shared) {
  signal_watch signals;
  observer seen(options, shared);
  for (int shown = 0;;) {
    if (const auto now = seen.change()) {
      show(*now, shared.json);
      if (++shown == options.count) return success;
    }
    if (const auto signal = seen.pause(signals)) return killed_by_signal + *signal;
  }
}

}  // namespace

void add_watch(CLI::App& program, context& shared) {
  auto* const command = program.add_subcommand("watch", "Print a line for every change of a lock");
  const auto options = std::make_shared<watch_options>();
  add_names(*command, options->names, 1);
  add_dialect(*command, options->how);
  add_duration(*command, "--interval", options->interval, "How often to look", {50ms, 1min});
  command->add_option("--count", options->count, "End after so many lines [0: when interrupted]")
      ->check(CLI::Range(0, 1'000'000'000))
      ->type_name("N");
  command->footer(
      "When a mutex changes hands, the server notifies this command at once. It sees other "
      "changes\n"
      "at its next look. It may miss one of several changes within 20 ms. When the server goes\n"
      "away, it says so and tries again.\n\n"
      "Examples:\n"
      "  holdfast watch nightly\n"
      "  holdfast watch nightly --json --interval 100ms\n"
      "  holdfast watch --dialect redisson nightly");
  command->callback([options, &shared] {
    shared.takes_operands = true;
    options->names = all_names(options->names, shared.operands, 1, or_list_them);
    shared.action = [options, &shared] { return watch(*options, shared); };
  });
}

}  // namespace holdfast::cli
