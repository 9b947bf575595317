// Takes locks as Holdfast does in another library's dialect; see tests/interop/README.md.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "support/options_for.hpp"
#include "support/raw_connection.hpp"

namespace {

using holdfast::support::options_for;
using holdfast::support::raw_connection;
using milliseconds = std::chrono::milliseconds;

std::vector<std::string> split(const std::string& list, char at) {
  std::vector<std::string> words;
  std::istringstream rest(list);
  for (std::string word; std::getline(rest, word, at);) words.push_back(word);
  return words;
}

// The text behind the name of a dialect when the server is a cluster, or is found by a sentinel.
constexpr std::string_view in_cluster = "_cluster", by_sentinel = "_sentinel";

std::string without_topology(std::string name) {
  for (const auto how : {in_cluster, by_sentinel}) {
    if (name.ends_with(how)) name.resize(name.size() - how.size());
  }
  return name;
}

// `ports`: of several servers that vote, or MASTER,SENTINEL.
std::vector<std::string> urls_of(const std::string& dialect, const std::string& host,
                                 const std::string& ports) {
  std::vector<std::string> urls;
  const auto scheme = dialect.ends_with(in_cluster) ? "redis+cluster://" : "redis://";
  for (const auto& port : split(ports, ',')) urls.push_back(scheme + host + ":" + port);
  if (!dialect.ends_with(by_sentinel)) return urls;
  return {"redis+sentinel://" + host + ":" + split(ports, ',').at(1) + "/main"};
}

// The lease of all who use a semaphore of redis-semaphore.
milliseconds one_lease{10'000};

// `least`: lockAtLeastFor, of a job of ShedLock. `further`: resources of a lock of node-redlock.
holdfast::dialect dialect_of(const std::string& name, milliseconds least = {},
                             std::vector<std::string> further = {}) {
  constexpr milliseconds pause{10};
  for (const auto* plain : {"redisson", "redisson_rw", "redisson_fair", "redisson_semaphore",
                            "redisson_multi", "redisson_latch"}) {
    if (name == plain) return holdfast::dialect::redisson();
  }
  if (name == "redisson_spin") return holdfast::dialect::redisson(holdfast::redisson_lock::spin);
  if (name == "redisson_expirable") {
    return holdfast::dialect::redisson(holdfast::redisson_lock::expirable);
  }
  if (name == "redisson_fenced") {
    return holdfast::dialect::redisson(holdfast::redisson_lock::fenced);
  }
  if (name == "go_zero") return holdfast::dialect::go_zero();
  if (name == "redis_py") {
    return holdfast::dialect::token({.retry_interval = pause});
  }
  if (name == "python_redis_lock") return holdfast::dialect::python_redis_lock();
  if (name.starts_with("spring_integration")) {
    const auto mode = name.ends_with("pub_sub") ? holdfast::registry_mode::pub_sub
                                                : holdfast::registry_mode::spin;
    return holdfast::dialect::spring_integration({"interop", mode, pause});
  }
  if (name == "shedlock") {
    return holdfast::dialect::shedlock({.at_least_for = least, .retry_interval = pause});
  }
  if (name == "symfony") return holdfast::dialect::symfony({.retry_interval = pause});
  if (name == "redis_semaphore") {
    return holdfast::dialect::redis_semaphore({.lock_timeout = one_lease});
  }
  if (name == "rueidislock") return holdfast::dialect::rueidislock();
  if (name.starts_with("redsync") || name.starts_with("node_redlock")) {
    const auto library = name.starts_with("redsync") ? holdfast::redlock_library::redsync
                                                     : holdfast::redlock_library::node_redlock;
    return holdfast::dialect::redlock({library, further, pause});
  }
  throw std::invalid_argument("unknown dialect " + name);
}

class driver {
 public:
  driver(const std::string& dialect, const std::string& host, const std::string& ports)
      : called_(without_topology(dialect)),
        dialect_(dialect_of(called_)),
        where_(holdfast::net::tcp_endpoint{host, static_cast<std::uint16_t>(std::stoi(ports))}) {
    for (const auto& url : urls_of(dialect, host, ports)) servers_.emplace_back(url);
  }

  std::string acquire(const std::string& name, int lease, int wait, int least) {
    auto options = as_called();
    const auto how = least != 0 ? dialect_of(called_, milliseconds{least}) : dialect_;
    if (lease != 0) {
      options.lease = milliseconds{lease};
      options.renewal = holdfast::renewal::none;
    } else {
      options.lease = milliseconds{1000};
    }
    auto held = lock_of(name, options, how).try_acquire({.timeout = milliseconds{wait}});
    if (!held) return is_busy(held.error()) ? "busy" : throw held.error();
    held_[name].push_back(std::move(*held));
    return "ok";
  }

  std::string release(const std::string& name) {
    auto& all = held_[name];
    if (all.empty()) return "refused";
    auto last = std::move(all.back());
    all.pop_back();
    const auto outcome = last.release();
    if (!outcome && outcome.error().reason() == holdfast::errc::lost) return "refused";
    return outcome ? "ok" : throw outcome.error();
  }

  std::string increment(const std::string& name, const std::string& counter, int threads,
                        int rounds) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        raw_connection values{where_};
        const auto options = as_called();
        // Symfony's mutex is the writer of its read-write lock.
        const bool is_mutex = is_alone() || called_ == "symfony";
        const auto mutex =
            is_mutex ? redis().mutex(name, options, dialect_) : lock_of(name, options, dialect_);
        for (int round = 0; round < rounds; ++round) {
          const auto held = mutex.acquire();
          const auto text = values.command({"GET", counter}).text;
          const int next = (text.empty() ? 0 : std::stoi(text)) + 1;
          values.command({"SET", counter, std::to_string(next)});
        }
      });
    }
    for (auto& one : all) one.join();
    return "ok";
  }

  // How many were inside at once, at most.
  std::string crowd(const std::string& name, const std::string& counter, int threads, int rounds) {
    std::vector<std::thread> all;
    std::atomic<std::int64_t> most{0};
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        raw_connection values{where_};
        const auto lock = part(name, as_called(), dialect_);
        for (int round = 0; round < rounds; ++round) {
          const auto held = lock.acquire();
          const auto now = values.command({"INCR", counter}).number;
          for (auto known = most.load(); known < now;) {
            if (most.compare_exchange_weak(known, now)) break;
          }
          values.command({"DECR", counter});
        }
      });
    }
    for (auto& one : all) one.join();
    return std::to_string(most);
  }

  std::string locked(const std::string& name) const {
    if (called_ == "redisson_multi") return "unknown";
    const auto votes = std::ranges::count_if(servers_, [&](const holdfast::client& each) {
      const auto status = holdfast::inspector{each}.status(name, dialect_);
      return status.state == holdfast::lock_state::held;
    });
    return static_cast<std::size_t>(votes) > servers_.size() / 2 ? "yes" : "no";
  }

  std::string holds(const std::string& name) const {
    const auto found = held_.find(name);
    if (found == held_.end()) return "0";
    std::size_t count = 0;
    for (const auto& one : found->second) count += one.held() ? 1 : 0;
    return std::to_string(count);
  }

  std::string token(const std::string& name) const {
    return held_.at(name).back().token().to_string();
  }

  // Counts a latch down in so many threads, each so often.
  std::string count_down(const std::string& name, int threads, int rounds) const {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        for (int round = 0; round < rounds; ++round) latch_of(name).count_down();
      });
    }
    return "ok";
  }

  std::string wait_for(const std::string& name, int wait) const {
    const auto passed = latch_of(name).try_wait({.timeout = milliseconds{wait}});
    if (!passed) return is_busy(passed.error()) ? "busy" : throw passed.error();
    return "ok";
  }

  // What is said of a latch; empty: it is something else.
  std::string obey_latch(const std::string& what, const std::string& name, int first,
                         int second) const {
    if (what == "set") {
      return latch_of(name).try_set(static_cast<std::uint32_t>(first)) ? "ok" : "refused";
    }
    if (what == "down") return count_down(name, first, second);
    if (what == "count") return std::to_string(latch_of(name).count());
    return what == "await" ? wait_for(name, first) : "";
  }

  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string what, name, counter;
    int first = 0, second = 0, least = 0;
    words >> what >> name;
    if (what == "increment" || what == "crowd") words >> counter;
    words >> first >> second >> least;
    if (what == "acquire") return acquire(name, first, second, least);
    if (what == "release") return release(name);
    if (what == "increment") return increment(name, counter, first, second);
    if (what == "crowd") return crowd(name, counter, first, second);
    if (what == "locked") return locked(name);
    if (what == "holds") return holds(name);
    if (what == "token") return token(name);
    const auto answer = obey_latch(what, name, first, second);
    return answer.empty() ? "error unknown command" : answer;
  }

 private:
  holdfast::mutex_options as_called() const { return {.fair = called_ == "redisson_fair"}; }

  const holdfast::client& redis() const { return servers_.front(); }
  holdfast::latch latch_of(const std::string& name) const { return redis().latch(name, dialect_); }
  bool has_modes() const { return called_ == "redisson_rw" || called_ == "symfony"; }
  bool has_permits() const {
    return called_ == "redisson_semaphore" || called_ == "redisson_expirable" ||
           called_ == "redis_semaphore";
  }
  // Not a part of something, nor several.
  bool is_alone() const {
    const bool is_other = has_modes() || has_permits() || called_ == "redisson_multi";
    return !is_other && servers_.size() == 1;
  }

  // NAME+OTHER is several resources, and several locks are NAME.1 and NAME.2.
  holdfast::lock lock_of(const std::string& name, const holdfast::mutex_options& options,
                         holdfast::dialect how) const {
    if (has_modes() || has_permits()) return part(name, options, how);
    if (called_ == "redisson_multi") {
      return holdfast::all_of(
          {redis().mutex(name + ".1", options, how), redis().mutex(name + ".2", options, how)});
    }
    auto resources = split(name, '+');
    if (resources.size() > 1) {
      how = dialect_of(called_, {}, {resources.begin() + 1, resources.end()});
    }
    if (is_alone())
      return redis().recursive_mutex(resources.front(),
                                     options_for<holdfast::recursive_mutex_options>(options), how);
    return holdfast::quorum{servers_}.mutex(
        resources.front(), options_for<holdfast::quorum_mutex_options>(options), how);
  }

  // Of a read-write lock NAME is the writer, and NAME/read a reader; of a semaphore of three
  // permits NAME/N are N.
  holdfast::lock part(const std::string& word, const holdfast::mutex_options& options,
                      const holdfast::dialect& how) const {
    const auto slash = word.find('/');
    const auto name = word.substr(0, slash);
    if (has_modes()) {
      const auto lock =
          redis().read_write_lock(name, options_for<holdfast::read_write_options>(options), how);
      return slash == word.npos ? lock.exclusive() : lock.shared();
    }
    const auto count = static_cast<std::uint32_t>(std::stoi(word.substr(slash + 1)));
    auto of_three = options_for<holdfast::semaphore_options>(options);
    of_three.permits = 3;
    return redis().semaphore(name, of_three, how).permits(count);
  }

  static bool is_busy(const holdfast::failure& why) {
    return why.reason() == holdfast::errc::busy || why.reason() == holdfast::errc::timed_out;
  }

  const std::string called_;
  const holdfast::dialect dialect_;
  const holdfast::net::endpoint where_;
  std::vector<holdfast::client> servers_;
  std::map<std::string, std::vector<holdfast::lease>> held_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) return 2;
  if (argc == 5) one_lease = milliseconds{std::stoi(argv[4])};
  driver here(argv[1], argv[2], argv[3]);
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    std::string answer;
    try {
      answer = here.obey(line);
    } catch (const std::exception& failed) {
      answer = std::string("error ") + failed.what();
    }
    std::cout << answer << std::endl;
  }
}
