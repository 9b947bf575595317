#include "inspection/key_scan.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/errc.hpp>

#include "redis/calls/ask.hpp"

namespace holdfast::inspection {
namespace {

constexpr std::size_t longest_step = 1000;
constexpr std::size_t most_empty_steps = 2'000;
constexpr std::size_t most_keys = std::size_t{1} << 40;  // so that sums with it do not overflow

}  // namespace

void check_stop(const list_options& options) {
  if (!options.stop.stop_requested()) return;
  throw failure{errc::cancelled, "the search for locks was stopped"};
}

redis_locks::bound until_stopped(const list_options& options) { return {.stop = options.stop}; }

std::size_t key_scan::count() {
  keys_ = 0;
  survey_.each_server([&](redis::connection& at) {
    const auto answer = calls::ask(core_, at, {"DBSIZE"}, until_stopped(options_));
    if (answer.is(resp::type::integer)) {
      keys_ += static_cast<std::size_t>(std::max<std::int64_t>(answer.number, 0));
    }
  });
  // A table that was larger before has more steps than its keys need, and keys may be added
  // meanwhile; but no server may go on for ever.
  if (keys_ <= left_) left_ = 2 * std::min(keys_, most_keys) + most_empty_steps * longest_step;
  return keys_;
}

bool key_scan::walk(std::string_view match, const taking& take) {
  bool is_whole = true;
  survey_.each_server([&](redis::connection& at) { is_whole = walk(at, match, take) && is_whole; });
  return is_whole;
}

bool key_scan::walk(redis::connection& at, std::string_view match, const taking& take) {
  std::string cursor = "0";
  while (left_ > 0) {
    check_stop(options_);
    const auto count = std::min(longest_step, left_);
    left_ -= count;
    scanned_ += count;
    auto answer = calls::answer_to(core_, at,
                                   {"SCAN", cursor, "MATCH", match, "COUNT", std::to_string(count)},
                                   until_stopped(options_));
    if (answer.items.size() != 2) {
      throw failure{errc::server_error, "the server's answer to SCAN cannot be understood"};
    }
    std::vector<std::string> keys;
    for (auto& key : answer.items[1].items) keys.push_back(std::move(key.text));
    const bool is_enough = !take(std::move(keys));
    if (options_.progress) options_.progress(scanned_, keys_);
    cursor = std::move(answer.items[0].text);
    if (cursor == "0") return true;
    if (is_enough) return false;
  }
  return false;
}

}  // namespace holdfast::inspection
