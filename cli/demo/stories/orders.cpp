// One order for each user and product, however often it is sent: retries, double clicks, two tabs.
#include "cli/demo/stories/tale.hpp"

namespace holdfast::cli::demo {
namespace {

class orders_tale : public tale {
 public:
  using tale::tale;

  std::vector<std::string> keys() const override { return {"placed", "orders"}; }
  std::vector<std::string> locks() const override {
    std::vector<std::string> all;
    for (const auto& order : wanted()) all.push_back(at_.data.lock_name(order));
    return all;
  }

  void act(int) override {
    for (const auto& order : wanted()) place(order);
  }

  tally check() override {
    const auto placed = at_.data.number({"SCARD", key("placed")});
    const auto done = at_.data.number({"LLEN", key("orders")});
    return {.done = done,
            .expected = static_cast<std::int64_t>(wanted().size()),
            .wrong = done - placed,
            .refused = 0};
  }

 private:
  static std::vector<std::string> wanted() {
    std::vector<std::string> all;
    for (const auto* const user : {"ada", "ben", "cleo", "dev"}) {
      for (const auto* const product : {":chair", ":lamp"})
        all.push_back(user + std::string(product));
    }
    return all;
  }

  // Look, work, write: right only when nobody else does the same meanwhile.
  void place(const std::string& order) {
    const auto held = hold(at_.redis.mutex(at_.data.lock_name(order)));
    if (at_.data.number({"SISMEMBER", key("placed"), order}) == 1) return;
    pause_for(work_ms);
    at_.data.ask({"SADD", key("placed"), order});
    at_.data.ask({"RPUSH", key("orders"), order});
  }
};

}  // namespace

const plot orders = {
    "orders",
    "a mutex for each order",
    "PLACED TWICE",
    1000,
    false,
    [](const scene& at) -> std::unique_ptr<tale> { return std::make_unique<orders_tale>(at); }};

}  // namespace holdfast::cli::demo
