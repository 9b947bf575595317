#include "soak/work.hpp"

#include <pthread.h>

#include <random>
#include <stdexcept>

#include "net/clock.hpp"
#include "support/eventually.hpp"
#include "support/pause.hpp"

namespace holdfast::soak {
namespace {

using namespace std::chrono_literals;

constexpr unsigned workers = 8;
constexpr std::size_t long_lived_clients = 3;

client_options options() { return {.connect_timeout = 2s, .response_timeout = 500ms}; }

task<result<lease>> ask(lock wanted) {
  co_return co_await wanted.async_try_acquire({.timeout = 3s});
}

// Inside while it lives, also while a thread that is cancelled unwinds.
class visit {
 public:
  visit(room& of, int size, std::atomic<std::uint64_t>& intruders) : of_(of), size_(size) {
    if (of_.inside.fetch_add(size_) + size_ > of_.most) ++intruders;
  }
  ~visit() { of_.inside.fetch_sub(size_); }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  room& of_;
  const int size_;
};

}  // namespace

crew::crew(std::string url) : url_(std::move(url)) {
  for (std::size_t i = 0; i < long_lived_clients; ++i) clients_.emplace_back(url_, options());
  for (unsigned i = 0; i < workers; ++i) {
    threads_.emplace_back([this, i](std::stop_token stop) { work(std::move(stop), i); });
  }
  threads_.emplace_back([this](std::stop_token stop) { cancel_workers(std::move(stop)); });
  threads_.emplace_back([this](std::stop_token stop) { come_and_go(std::move(stop)); });
}

crew::~crew() { stop(); }

void crew::stop() {
  for (auto& one : threads_) one.request_stop();
  threads_.clear();
  clients_.clear();
}

std::vector<crew::way> crew::ways_of(const client& redis) const {
  const auto a = redis.mutex("a"), b = redis.mutex("b");
  const auto both = redis.read_write_lock("shared");
  return {{a, {{&a_, 1}}},
          {b, {{&b_, 1}}},
          {all_of({a, b}), {{&a_, 1}, {&b_, 1}}},
          {redis.mutex("fair", {.fair = true}), {{&fair_, 1}}},
          {both.shared(), {{&shared_, 1}}},
          {both.exclusive(), {{&shared_, shared_.most}}},
          {redis.semaphore("permits", {.permits = 3}), {{&permits_, 1}}}};
}

void crew::note(nanoseconds took) {
  const auto ms = std::chrono::duration_cast<milliseconds>(took).count();
  auto longest = tally_.longest_ms.load();
  while (longest < ms && !tally_.longest_ms.compare_exchange_weak(longest, ms)) {
  }
}

void crew::use(const way& how, std::uint64_t dice) {
  const auto began = net::now();
  auto got = dice % 4 == 0 ? sync_wait(ask(how.wanted)) : how.wanted.try_acquire({.timeout = 3s});
  note(net::now() - began);
  if (!got) {
    ++tally_.failed;
    return;
  }
  ++tally_.acquired;
  {
    std::vector<std::unique_ptr<visit>> inside;
    for (const auto& one : how.gives) {
      inside.push_back(std::make_unique<visit>(*one.of, one.size, tally_.intruders));
    }
    if (dice % 16 < 3) (void)got->extend(20s);
    support::pause(milliseconds{dice / 16 % 3});
    if (!got->held()) ++tally_.lost;
  }
  const auto releases = net::now();
  if (dice % 8 != 0) (void)got->release();  // else its destructor does
  note(net::now() - releases);
}

void crew::work(std::stop_token stop, unsigned number) {
  const auto ways = ways_of(clients_.at(number % clients_.size()));
  std::mt19937_64 dice(number);
  while (!stop.stop_requested()) use(ways.at(dice() % ways.size()), dice());
}

// Until it is cancelled, wherever it is then.
void* crew::cancelled_worker(void* of) {
  auto& self = *static_cast<crew*>(of);
  const auto ways = self.ways_of(self.clients_.front());
  std::mt19937_64 dice(net::now().time_since_epoch().count());
  for (;;) {
    self.use(ways.at(dice() % ways.size()), dice());
    ::pthread_testcancel();
  }
}

void crew::cancel_workers(std::stop_token stop) {
  std::mt19937_64 dice(4711);
  while (!stop.stop_requested()) {
    pthread_t worker{};
    if (::pthread_create(&worker, nullptr, &cancelled_worker, this) != 0) {
      throw std::runtime_error("no thread can be made");
    }
    support::pause(milliseconds(dice() % 50));
    ::pthread_cancel(worker);
    ::pthread_join(worker, nullptr);
    ++tally_.cancelled;
  }
}

void crew::come_and_go(std::stop_token stop) {
  for (std::uint64_t i = 0; !stop.stop_requested(); ++i) {
    const client redis{url_, options()};
    const auto ways = ways_of(redis);
    use({redis.mutex("once " + std::to_string(i)), {}}, i);
    use(ways.at(i % ways.size()), i);
    ++tally_.clients;
    support::pause(milliseconds{20});
  }
}

// A release that a client could not deliver before it was closed leaves a lock until its lease
// ends.
std::string crew::left_behind() const {
  const client redis{url_, options()};
  const auto until_any_lease_has_ended = client_options{}.default_lease + support::generous;
  for (const auto& one : ways_of(redis)) {
    const auto got = one.wanted.try_acquire({.timeout = until_any_lease_has_ended});
    if (!got) return one.wanted.name() + ": " + got.error().what();
  }
  return {};
}

}  // namespace holdfast::soak
