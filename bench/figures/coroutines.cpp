// 1,000 coroutines on one thread: how much of what the server can do do we leave?
#include <string>

#include <holdfast/client.hpp>
#include <holdfast/task.hpp>

#include "holdfast_scripts.hpp"
#include "net/clock.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/resp/writer.hpp"
#include "support/external.hpp"
#include "support/measure.hpp"
#include "support/raw_client.hpp"
#include "support/setting.hpp"

namespace holdfast::bench {
namespace {

constexpr const char* compare_and_delete =
    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) end return 0";
constexpr const char* owner = "00112233445566778899aabbccddeeff-1";
constexpr const char* value = "1:1795240014867674:00112233445566778899aabbccddeeff-1";
constexpr long locks_to_release = 100'000;

class limit {
 public:
  explicit limit(const setting& with)
      : port_(with.redis.port()),
        scale_(with.quick ? 1 : 3),
        client_(with.redis.port(), microseconds{0}) {}

  // Pairs a second that both commands reach, one after the other.
  double with_scripts() {
    const std::string acquire(dialects::scripts::holdfast_acquire.sha1);
    const std::string release(dialects::scripts::holdfast_release.sha1);
    const double acquires =
        redis_benchmark(port_, 10'000L * scale_, 1'000'000'000,
                        {"EVALSHA", acquire, "4", "hf:{__rand_int__}", "hf:{0}:w", "hf:{0}:i",
                         "hf:fence:{0}", owner, "30000", "4503599627370496", "0"});
    prepare_locks();
    const double releases = redis_benchmark(port_, 12'000L * scale_, locks_to_release,
                                            {"EVALSHA", release, "4", "hf:{__rand_int__}",
                                             "hf:{0}:w", "hf:{0}:i", "hf:fence:{0}", value});
    forget_all();
    return 1 / (1 / acquires + 1 / releases);
  }

  double with_plain_set() {
    const double sets = redis_benchmark(port_, 30'000L * scale_, 1'000'000'000,
                                        {"SET", "hf:{__rand_int__}", value, "NX", "PX", "30000"});
    prepare_locks();
    const double deletes =
        redis_benchmark(port_, 20'000L * scale_, locks_to_release,
                        {"EVAL", compare_and_delete, "1", "hf:{__rand_int__}", value});
    forget_all();
    return 1 / (1 / sets + 1 / deletes);
  }

 private:
  void tell(std::initializer_list<std::string_view> words) {
    std::string bytes;
    resp::writer out(bytes);
    out.command(words.size());
    for (const auto word : words) out.arg(word);
    const auto& answer = client_.command(bytes);
    if (answer.is(resp::type::error)) throw std::runtime_error(answer.text);
  }

  void prepare_locks() {
    forget_all();
    tell({"EVAL",
          "for i = 0, ARGV[1] - 1 do redis.call('SET', string.format('hf:{%012d}', i), ARGV[2], "
          "'PX', 300000) end",
          "0", std::to_string(locks_to_release), value});
  }
  void forget_all() { tell({"FLUSHALL"}); }

  int port_;
  long scale_;
  raw_client client_;
};

task<> take_turns(lock target, monotonic_time until, long& pairs) {
  while (net::now() < until) {
    auto held = co_await target.async_acquire();
    (co_await held.async_release()).value();
    ++pairs;
  }
}

slice run(const std::vector<lock>& locks, nanoseconds length) {
  long pairs = 0;
  const auto processor = own_processor_time();
  const auto begin = net::now();
  std::vector<task<>> all;
  for (const auto& one : locks) all.push_back(take_turns(one, begin + length, pairs));
  sync_wait(when_all(std::move(all)));
  const auto took = std::chrono::duration<double>(net::now() - begin).count();
  const auto used = std::chrono::duration<double, std::micro>(own_processor_time() - processor);
  return {.rate = static_cast<double>(pairs) / took,
          .p50 = 0,
          .p99 = 0,
          .processor = used.count() / static_cast<double>(pairs),
          .pairs = static_cast<double>(pairs)};
}

std::vector<lock> make_locks(const client& redis, fencing how) {
  std::vector<lock> locks;
  for (int i = 0; i < 1000; ++i) {
    locks.push_back(redis.mutex("bench-" + std::to_string(i), {.fencing = how}));
  }
  return locks;
}

}  // namespace

void coroutines(const setting& with) {
  limit server_limit(with);
  const holdfast::client client(with.redis.url());
  const auto fenced = make_locks(client, fencing::on);
  const auto plain = make_locks(client, fencing::off);
  with.on_each_placement("coroutines", [&](placement, const std::string& prefix) {
    const auto figures = run_by_turns(with.redis, with.quick ? 2 : 5,
                                      {[&] { return slice{.rate = server_limit.with_scripts()}; },
                                       [&] { return run(fenced, with.slice()); },
                                       [&] { return slice{.rate = server_limit.with_plain_set()}; },
                                       [&] { return run(plain, with.slice()); }});
    auto& results = with.results;
    results.at_least(prefix + "rate_vs_server", figures[1].rate / figures[0].rate, "x", 0.85);
    results.at_least(prefix + "unfenced_rate_vs_server", figures[3].rate / figures[2].rate, "x",
                     0.85);
    results.at_least(prefix + "unfenced_rate", figures[3].rate, "pairs/s", 108'000);
    results.tell(prefix + "rate", figures[1].rate, "pairs/s");
    results.tell(prefix + "server_rate", figures[0].rate, "pairs/s");
    results.tell(prefix + "unfenced_server_rate", figures[2].rate, "pairs/s");
    with.tell_processor(prefix, figures[1]);
    results.tell(prefix + "unfenced_processor_per_pair", figures[3].processor, "us");
  });
}

}  // namespace holdfast::bench
