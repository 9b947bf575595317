// A limited number may be inside at once.
#include <algorithm>

#include "cli/demo/stories/tale.hpp"

namespace holdfast::cli::demo {
namespace {

constexpr int visits = 3;  // of each person

// Returns how many are inside now, and keeps how often there were too many.
constexpr const char* enter = R"lua(
local inside = redis.call('INCR', KEYS[1])
redis.call('INCR', KEYS[2])
if inside > tonumber(ARGV[1]) then redis.call('INCR', KEYS[3]) end
return inside)lua";

class seats_tale : public tale {
 public:
  using tale::tale;

  std::vector<std::string> keys() const override { return {"inside", "visits", "standing"}; }
  std::vector<std::string> locks() const override { return {at_.data.lock_name()}; }

  void act(int) override {
    for (int i = 0; i < visits; ++i) visit();
  }

  tally check() override {
    return {.done = at_.data.number({"GET", key("visits")}),
            .expected = std::int64_t{at_.people} * visits,
            .wrong = at_.data.number({"GET", key("standing")}),
            .refused = 0};
  }

 private:
  int there_are() const { return std::max(2, at_.people / 10); }

  bool are_taken() { return at_.data.number({"GET", key("inside")}) >= there_are(); }

  void visit() {
    const auto permits = static_cast<std::uint32_t>(there_are());
    const auto held = hold(at_.redis.semaphore(at_.data.lock_name(), {.permits = permits}));
    while (!at_.locked && are_taken()) pause_for(work_ms);
    at_.data.ask({"EVAL", enter, "3", key("inside"), key("visits"), key("standing"),
                  std::to_string(there_are())});
    pause_for(work_ms);
    at_.data.ask({"DECR", key("inside")});
  }
};

}  // namespace

const plot seats = {
    "seats",
    "a semaphore",
    "WITHOUT A SEAT",
    1000,
    false,
    [](const scene& at) -> std::unique_ptr<tale> { return std::make_unique<seats_tale>(at); }};

}  // namespace holdfast::cli::demo
