// Time, server and network of a run, and the run.
#include <algorithm>
#include <utility>

#include "simulation/several_world.hpp"

namespace holdfast::simulation {
namespace several {

using namespace std::chrono_literals;

namespace {

constexpr nanoseconds one_way = 2ms;
constexpr std::size_t most_clients = 4;
// After each of the others, for each lock: his lease, his use, and the silence of who waits.
constexpr nanoseconds life_of_queues = 180s;
constexpr nanoseconds healing_phase = 3 * most_clients * (longest_lease + 1s + 5s);

}  // namespace

market::market(std::uint64_t seed) : dice_(seed) {
  for (const auto& row : dialects::catalog()) {
    if (row.how != nullptr && row.how != &how()) continue;
    for (const auto* const script : row.scripts) server_.know(*script);
  }
}

market::~market() = default;

void market::synchronize() {
  const auto past = std::chrono::floor<microseconds>(now() - server_at_);
  server_.advance(past);
  server_at_ += past;
}

std::string market::owner_of(const lock_key& key) {
  synchronize();
  const auto name = key.value_key();
  const std::array<std::string_view, 2> words{"GET", name};
  const auto value = server_.look(words);
  return value.is_text() ? value.text.substr(value.text.rfind(':') + 1) : std::string{};
}

resp::value market::execute(int connection, const std::string& bytes) {
  synchronize();
  auto reply = server_.execute(connection, bytes);
  for (const int told : server_.take_told()) {
    for (auto& push : server_.take_pushes(told)) {
      if (faults() && dice_.chance(5)) {
        ++result_.harms;
        continue;
      }
      at(now() + dice_.time_up_to(one_way), [this, told, push = std::move(push)] {
        for (const auto& one : customers_) {
          if (one->connection() == told) one->heard(push);
        }
      });
    }
  }
  return reply;
}

// Over a connection that lasts, or, late, over one that its sender has given up.
void market::send(int connection, std::string bytes, std::function<void()> done,
                  std::function<void(const resp::value*, monotonic_time)> heard) {
  const auto drawn = faults() ? dice_.up_to(99) : 99;
  const bool is_lost = drawn < 4, is_late = drawn < 10 && drawn >= 4, is_unheard = drawn < 14;
  if (is_unheard) ++result_.harms;
  const auto sent_at = now();
  if (is_unheard) at(now() + response_timeout, [heard, sent_at] { heard(nullptr, sent_at); });
  if (is_lost) return;
  const auto delay = dice_.time_up_to(is_late ? 2 * response_timeout : one_way);
  at(now() + delay, [=, this, bytes = std::move(bytes)] {
    const int by = is_unheard || connection < 0 ? server_.connect() : connection;
    const auto alive = std::ranges::any_of(
        customers_, [&](const auto& one) { return one->connection() == connection; });
    const auto reply = execute(alive && by == connection ? by : server_.connect(), bytes);
    if (done) done();
    if (is_unheard) return;
    at(now() + dice_.time_up_to(one_way), [heard, reply, sent_at] { heard(&reply, sent_at); });
  });
}

void market::check_beliefs() {
  for (const auto& key : keys_) {
    const part* has = nullptr;
    for (const auto& one : customers_) {
      for (const auto& mine : one->parts()) {
        if (&mine->key() != &key || !mine->believes()) continue;
        if (has != nullptr) violated("S1: two hold '" + key.name() + "'");
        has = mine.get();
      }
    }
    if (has != nullptr && owner_of(key) != has->owner()) {
      violated("S3: '" + key.name() + "' is not his who holds it");
    }
  }
}

// Who died in a queue stays in it until somebody comes across him, or the queue's life ends. And
// so does a request whose withdrawal was never answered, since its sender does not ask for ever:
// should it be its turn, he passes the lock on.
bool market::may_be_left(std::string_view waiter) const {
  const auto lives = [&](const auto& one) { return waiter.starts_with(one->id().text()); };
  if (std::ranges::none_of(customers_, lives)) return true;
  return unconfirmed_.contains(waiter.substr(0, waiter.find(':')));
}

void market::check_nothing_left() {
  pass(longest_lease + 1s);  // of what nobody confirmed
  synchronize();
  for (const auto& key : keys_) {
    if (!owner_of(key).empty()) violated("L: '" + key.name() + "' is left");
    const auto queue = key.value_key() + ":w";
    const std::array<std::string_view, 4> words{"ZRANGE", queue, "0", "-1"};
    for (const auto& waiter : server_.look(words).items) {
      if (!may_be_left(waiter.text)) violated("L: " + waiter.text + " is left in " + queue);
    }
  }
  pass(life_of_queues);
  synchronize();
  for (const auto& key : keys_) {
    for (const std::string suffix : {":w", ":i"}) {
      const auto name = key.value_key() + suffix;
      const std::array<std::string_view, 2> words{"EXISTS", name};
      if (server_.look(words).number != 0) violated("L: " + name + " is left");
    }
  }
}

several_outcome market::run() {
  const auto count = 2 + dice_.up_to(most_clients - 2);
  for (std::uint64_t i = 0; i < count; ++i) {
    customers_.push_back(std::make_unique<customer>(*this, static_cast<std::uint8_t>(i + 1)));
    at(now() + dice_.time_up_to(50ms), [one = customers_.back().get()] { one->begin(); });
  }
  const auto faults_end = begin + fault_phase;
  timeline::run(customers_, faults_end, faults_end + healing_phase, [this] { check_beliefs(); });
  if (violation().empty()) check_nothing_left();
  result_.violation = violation();
  result_.trace = trace();
  return result_;
}

}  // namespace several

several_outcome simulate_several(std::uint64_t seed) { return several::market{seed}.run(); }

}  // namespace holdfast::simulation
