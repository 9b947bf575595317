// Time, server and network of a run, and the run.
#include <algorithm>
#include <utility>

#include "simulation/copied_queue.hpp"
#include "simulation/several_world.hpp"

namespace holdfast::simulation {
namespace several {

using namespace std::chrono_literals;

namespace {

constexpr nanoseconds one_way = 2ms;
constexpr std::size_t most_clients = 4;
// After each of the others, for each lock: its lease, its use, and the silence of waiters.
constexpr nanoseconds life_of_queues = 180s;
constexpr nanoseconds healing_phase = 3 * most_clients * (longest_lease + 1s + 5s);

std::array<lock_key, 3> keys_of_three_slots() {
  return {lock_key{"a"}, lock_key{"b"}, lock_key{"c"}};
}

// Their tokens are of one counter, and in a cluster they are at the same node.
std::array<lock_key, 3> keys_of_one_slot() {
  static const std::array<lock_key, 3> found = [] {
    std::vector<lock_key> alike{lock_key{"a"}};
    for (int i = 0; alike.size() < 3; ++i) {
      lock_key next{"a" + std::to_string(i)};
      if (next.slot() == alike.front().slot()) alike.push_back(std::move(next));
    }
    return std::array<lock_key, 3>{alike[0], alike[1], alike[2]};
  }();
  return found;
}

}  // namespace

market::market(std::uint64_t seed)
    : dice_(seed),
      other_dice_(seed ^ 0x6f74686572),
      in_one_slot_(other_dice_.chance(30)),
      at_once_(other_dice_.chance(30)),
      keys_(in_one_slot_ ? keys_of_one_slot() : keys_of_three_slots()) {
  if (in_one_slot_ && other_dice_.chance(60)) server_.join_a_cluster(other_dice_.chance(70));
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
      violated("S3: '" + key.name() + "' does not belong to its holder");
    }
  }
}

// A client that died in a queue stays in it until another one comes across it, or the queue's life
// ends. And so does a request whose withdrawal was never answered, since its sender does not ask
// for ever: should it be its turn, the sender hands the lock over.
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

// ---- what is said of one lock is believed of no other

void market::plan_copies() {
  if (!other_dice_.chance(30)) return;
  for (auto times = 1 + other_dice_.up_to(5); times > 0; --times) {
    at(begin + other_dice_.time_up_to(fault_phase), [this] { mislead(); });
  }
}

void market::mislead() {
  synchronize();
  const auto from = other_dice_.up_to(2), to = (from + 1 + other_dice_.up_to(1)) % 3;
  for (const auto& waiter : copy_queue(server_, keys_.at(from), keys_.at(to))) {
    ++result_.misled;
    // It leaves the one queue, and the copy of its place stays.
    unconfirmed(waiter.substr(0, waiter.find(':')));
  }
}

several_outcome market::run() {
  const auto count = 2 + dice_.up_to(most_clients - 2);
  for (std::uint64_t i = 0; i < count; ++i) {
    customers_.push_back(std::make_unique<customer>(*this, static_cast<std::uint8_t>(i + 1)));
    at(now() + dice_.time_up_to(50ms), [one = customers_.back().get()] { one->begin(); });
  }
  plan_copies();
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
