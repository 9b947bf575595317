// Money is moved between accounts; none may come or go.
#include <random>

#include <holdfast/all_of.hpp>

#include "cli/demo/stories/tale.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr int accounts = 10;
constexpr int moves = 2;  // of each person
constexpr std::int64_t at_first = 1000;

class balance_tale : public tale {
 public:
  using tale::tale;

  std::vector<std::string> keys() const override { return {"balance", "moved", "moves"}; }
  std::vector<std::string> locks() const override {
    std::vector<std::string> all;
    for (int i = 0; i < accounts; ++i) all.push_back(at_.data.lock_name(account(i)));
    return all;
  }

  void open() override {
    for (int i = 0; i < accounts; ++i) {
      at_.data.ask({"HSET", key("balance"), account(i), std::to_string(at_first)});
    }
  }

  void act(int person) override {
    std::mt19937 random(static_cast<unsigned>(person + 1));
    std::uniform_int_distribution<int> any(0, accounts - 1);
    std::uniform_int_distribution<int> other(1, accounts - 1);
    for (int i = 0; i < moves; ++i) {
      const int from = any(random);
      move(account(from), account((from + other(random)) % accounts), 1 + person % 7);
    }
  }

  // Beside the balances, single commands add up the moved amounts. They lose nothing, and their sum
  // is zero: when every account is right, no money has come or gone.
  tally check() override {
    tally books{.done = at_.data.number({"GET", key("moves")}),
                .expected = std::int64_t{at_.people} * moves};
    for (int i = 0; i < accounts; ++i) {
      const auto moved = at_.data.number({"HGET", key("moved"), account(i)});
      if (balance(account(i)) != at_first + moved) ++books.wrong;
    }
    return books;
  }

 private:
  static std::string account(int number) { return "account:" + std::to_string(number); }

  std::int64_t balance(const std::string& of) {
    return at_.data.number({"HGET", key("balance"), of});
  }
  void set(const std::string& of, std::int64_t to) {
    at_.data.ask({"HSET", key("balance"), of, std::to_string(to)});
  }

  void move(const std::string& from, const std::string& to, std::int64_t amount) {
    const auto held = hold(all_of(
        {at_.redis.mutex(at_.data.lock_name(from)), at_.redis.mutex(at_.data.lock_name(to))}));
    const auto has = balance(from);
    const auto gets = balance(to);
    pause_for(work_ms);
    set(from, has - amount);
    set(to, gets + amount);
    at_.data.ask({"HINCRBY", key("moved"), from, std::to_string(-amount)});
    at_.data.ask({"HINCRBY", key("moved"), to, std::to_string(amount)});
    at_.data.ask({"INCR", key("moves")});
  }
};

}  // namespace

const plot balance = {
    "balance",
    "all_of both accounts",
    "WRONG ACCOUNTS",
    1000,
    false,
    [](const scene& at) -> std::unique_ptr<tale> { return std::make_unique<balance_tale>(at); }};

}  // namespace holdfast::cli::demo
