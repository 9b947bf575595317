// One leader at a time keeps a journal. One is frozen in office until another has begun; its late
// writes are then refused by their token.
#include "cli/demo/stories/tale.hpp"

namespace holdfast::cli::demo {
namespace {

using namespace std::chrono_literals;

constexpr int terms = 5;               // of each person
constexpr auto frozen_lease = 1000ms;  // as short as the demo is impatient

class leader_tale : public tale {
 public:
  using tale::tale;

  std::vector<std::string> keys() const override { return {"leader", "journal", "late"}; }
  std::vector<std::string> locks() const override { return {at_.data.lock_name()}; }

  void open() override {
    if (at_.locked) at_.data.order_freeze();
  }

  void act(int person) override {
    for (int i = 0; i < terms; ++i) {
      const auto who = std::to_string(person) + "." + std::to_string(i);
      at_.locked ? lead(who) : usurp(who);
    }
  }

  bool may_thaw() override {
    const auto written = at_.data.number({"LLEN", key("journal")});
    if (!when_frozen_) when_frozen_ = written;
    return written > *when_frozen_;
  }

  // Wrong is what somebody wrote after another had begun.
  tally check() override {
    tally books{.done = 0,
                .expected = std::int64_t{at_.people} * terms,
                .wrong = 0,
                .refused = at_.data.number({"GET", key("late")})};
    std::string in_office;
    for (const auto& line : at_.data.list({"LRANGE", key("journal"), "0", "-1"})) {
      const bool begins = line.starts_with("begin ");
      const auto who = line.substr(line.find(' ') + 1);
      if (begins) in_office = who, ++books.done;
      if (who != in_office) ++books.wrong;
    }
    return books;
  }

 private:
  void lead(const std::string& who) {
    const auto office = at_.redis.election(at_.data.lock_name(), {.lease = frozen_lease});
    const auto term = office.campaign({.timeout = forever});
    write_fenced("begin " + who, term.token());
    at_.data.freeze_if_ordered();
    pause_for(work_ms);
    if (!write_fenced("end " + who, term.token())) at_.data.ask({"INCR", key("late")});
  }

  bool write_fenced(const std::string& line, fencing_token token) {
    return at_.data.eval_fenced("redis.call('RPUSH', KEYS[2], ARGV[2])", {"journal"}, token.value(),
                                {line});
  }

  // A worker that sees no leader takes the lead: so do all others that have seen this.
  void usurp(const std::string& who) {
    while (at_.data.number({"EXISTS", key("leader")}) == 1) pause_for(work_ms);
    pause_for(work_ms);
    at_.data.ask({"SET", key("leader"), who});
    at_.data.ask({"RPUSH", key("journal"), "begin " + who});
    pause_for(work_ms);
    at_.data.ask({"RPUSH", key("journal"), "end " + who});
    at_.data.ask({"DEL", key("leader")});
  }

  std::optional<std::int64_t> when_frozen_;
};

}  // namespace

// Few candidates: those of a frozen process cost those behind them a while, each.
const plot leader = {
    "leader",
    "an election, fenced",
    "LATE WRITES ACCEPTED",
    2,
    true,
    [](const scene& at) -> std::unique_ptr<tale> { return std::make_unique<leader_tale>(at); }};

}  // namespace holdfast::cli::demo
